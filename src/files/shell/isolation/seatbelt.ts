import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { attempt } from "../../../errors.ts";
import { KEYS } from "./home.ts";
import { FROZEN_NAMES } from "./read-only-paths.ts";
import { programFilesOfRoot } from "./repositories/index.ts";

/** The permissions of a command. Without `network` it can reach everything; an empty list of domains means none. */
interface Rules {
  network?: { allowedDomains: string[]; deniedDomains: string[] };
  filesystem: { denyRead: string[]; allowWrite: string[]; denyWrite: string[] };
}

/** Whether commands can run in the macOS sandbox. */
export function seatbeltIsThere(): boolean {
  if (process.platform !== "darwin" || !existsSync("/usr/bin/sandbox-exec")) return false;
  const { resolve } = createRequire(import.meta.url);
  return attempt(() => resolve("@anthropic-ai/sandbox-runtime")) !== undefined;
}

let started:
  | { network: boolean; runtime: Promise<typeof import("@anthropic-ai/sandbox-runtime")> }
  | undefined;

/**
 * The words that run a command in the macOS sandbox. Undefined if earlier commands of this process had another
 * `network` setting, as the package has one for the whole process.
 */
export async function inSeatbelt(
  command: string,
  root: string,
  bounds: { network: boolean; hidden: readonly string[] },
): Promise<string[] | undefined> {
  const rules = seatbeltRules(root, bounds);
  started ??= {
    network: bounds.network,
    runtime: import("@anthropic-ai/sandbox-runtime").then(async (runtime) => {
      await runtime.SandboxManager.initialize(rules);
      return runtime;
    }),
  };
  if (started.network !== bounds.network) return undefined;
  const { SandboxManager } = await started.runtime;
  return ["/bin/sh", "-c", await SandboxManager.wrapWithSandbox(command, "/bin/sh", rules)];
}

/** The same restrictions as in namespaces, except that the rest of the home folder is readable. */
export function seatbeltRules(
  root: string,
  { network, hidden }: { network: boolean; hidden: readonly string[] },
): Rules {
  return {
    ...(!network && { network: { allowedDomains: [], deniedDomains: [] } }),
    filesystem: {
      denyRead: [...KEYS.map((name) => join(homedir(), name)), ...hidden],
      allowWrite: [root, "/tmp", "/private/tmp"],
      denyWrite: [...FROZEN_NAMES.map((name) => join(root, name)), ...programFilesOfRoot(root)],
    },
  };
}
