import { z } from "zod";

/**
 * The policy for a call that was running when its process was stopped, and that LangGraph would run again.
 * `repeat`: it is run, and the tool can tell (`isRepetition`). `ask`: the user decides. `unknown`: it is not run, and
 * the model is notified that its outcome is unknown. `harmless`: calls of this tool change nothing outside of the thread,
 * so they are not recorded and simply run.
 */
export type RepeatPolicy = "repeat" | "ask" | "unknown" | "harmless";

/**
 * The policy of each tool by name, and of all others under `*`. Default: by MCP's annotations, `harmless` for
 * `readOnlyHint` and `repeat` for `idempotentHint`; a call that waits for consent is asked about again; for any other
 * the outcome is unknown.
 */
export type RepeatOptions = Readonly<Record<string, RepeatPolicy>>;

const POLICIES = z.record(z.string(), z.enum(["repeat", "ask", "unknown", "harmless"]));

export const REPEATS = z.union([z.literal(false), POLICIES]);
