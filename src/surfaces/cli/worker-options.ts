import { HarnessError } from "../../errors.ts";
import type { Limits } from "../../runs/cluster/index.ts";

/** Flags of a command that does runs of a cluster. */
export interface WorkerFlags {
  slots: number;
  limit?: readonly string[] | undefined;
}

/** Reads limits such as `tenant:*=5`. Throws `invalid-options` for what is none. */
export function limitsFrom(given: readonly string[] = []): Limits {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.lastIndexOf("=");
      const most = Number(text.slice(at + 1));
      if (at < 1 || !Number.isInteger(most) || most < 1) {
        throw new HarnessError(
          "invalid-options",
          `--limit ${text}: say what and how many, such as tenant:*=5.`,
        );
      }
      return [text.slice(0, at), most];
    }),
  );
}
