import type { Argv } from "yargs";
import { HarnessError } from "../../../errors.ts";
import type { Limits } from "../../../threads/cluster/index.ts";
import { QUEUE_NAME } from "../../../threads/host/request/request.ts";
import { wholeNumber } from "./numbers.ts";

/** Flags of a command that does runs of a cluster. */
export interface WorkerFlags {
  slots: number;
  queues?: readonly string[] | undefined;
  limit?: readonly string[] | undefined;
}

/** Flags of a worker. */
export function workerOptions<T>(args: Argv<T>) {
  return args
    .option("slots", {
      type: "number",
      requiresArg: true,
      default: 10,
      describe: "How many runs of a queue at a time; the same number for all its workers",
      coerce: wholeNumber("slots")<number>,
    })
    .option("queues", {
      type: "string",
      requiresArg: true,
      coerce: (text: string | undefined) => text?.split(",").map((name) => queueName(name.trim())),
      describe: "Take runs of these queues, such as runs,nightly; runs that name none are in runs",
    })
    .option("limit", {
      type: "string",
      requiresArg: true,
      coerce: (limits: string | string[] | undefined) => (limits === undefined ? undefined : [limits].flat()),
      describe: "At most so many at a time, such as model:openai:gpt-5.1=20 or tenant:*=5; several times",
    });
}

/** Throws for what cannot be the name of a queue. */
export function queueName<Name extends string | undefined>(name: Name): Name {
  if (name === undefined || QUEUE_NAME.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} is no name of a queue: letters, digits, -, _ and ., at most 64.`);
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
