import type { Limits } from "../../../threads/cluster/index.ts";
import { QUEUE_NAME } from "../../../threads/host/index.ts";
import { refuse } from "../wording.ts";
import { count, list, RUNNING_FLAGS, text, type FlagsOf } from "./command-options.ts";

/** The flag of a command whose threads are in a database, never in a file. */
export const DATABASE_FLAGS = {
  database: text("The Postgres database, postgres://… ($HOLDFAST_DATABASE_URL)"),
} as const;

const { state: _state, ...DATABASE_RUNNING_FLAGS } = { ...RUNNING_FLAGS, ...DATABASE_FLAGS };
/** Flags of a command that runs agents on threads in a database. */
export { DATABASE_RUNNING_FLAGS };

const { timeout: _timeout, "trust-project": _trust, ...SCHEDULE_FLAGS } = RUNNING_FLAGS;
/** Flags that a scheduled task keeps for its runs. */
export { SCHEDULE_FLAGS };

/** Flags of a command that executes runs of a cluster. */
export const WORKER_FLAGS = {
  slots: {
    ...count<number>("slots", "The most concurrent runs of a queue; the same number for all its workers"),
    requiresArg: true,
    default: 10,
  },
  queues: {
    ...text("Take runs from these queues, such as runs,nightly; the default queue is runs"),
    coerce: (names: string | string[] | undefined) =>
      names === undefined
        ? undefined
        : [names]
            .flat()
            .join(",")
            .split(",")
            .map((name) => queueName(name.trim())),
  },
  limit: list("The most concurrent runs, such as model:openai:gpt-5.1=20 or tenant:*=5; repeatable"),
} as const;

export type WorkerFlags = FlagsOf<typeof WORKER_FLAGS> & { slots: number };

/** Checks the name of a queue. Throws if it is invalid. */
export function queueName<Name extends string | undefined>(name: Name): Name {
  if (name === undefined || QUEUE_NAME.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} is no name of a queue: letters, digits, -, _ and ., at most 64.`);
}

/** Parses limits such as `tenant:*=5`. Throws `invalid-options` for an invalid one. */
export function limitsFrom(texts: readonly string[] = []): Limits {
  return Object.fromEntries(
    texts.map((limit) => {
      const at = limit.lastIndexOf("=");
      const most = Number(limit.slice(at + 1));
      if (at < 1 || !Number.isInteger(most) || most < 1) {
        refuse(`--limit ${limit}: say what and how many, such as tenant:*=5.`);
      }
      return [limit.slice(0, at), most];
    }),
  );
}
