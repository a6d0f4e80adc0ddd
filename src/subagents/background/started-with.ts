import { checkpointerOf } from "../../langgraph/task.ts";
import type { ToolRuntime } from "../../middleware/tools/loose-tool.ts";
import type { Assignment } from "../assignment.ts";
import type { Given } from "../exchange.ts";

/** The state that a job first started with, from its oldest checkpoint. Its changes are told from there. */
export async function startedWith(
  { given, job }: Pick<Assignment, "given" | "job">,
  { configurable = {} }: ToolRuntime,
  ns: string,
): Promise<Given> {
  const saver = checkpointerOf(configurable);
  if (!saver) return given;
  const isAskedAgain = job.again !== undefined;
  const place = { configurable: { thread_id: configurable["thread_id"], checkpoint_ns: ns } };
  let oldest: Partial<Given> = {};
  for await (const { checkpoint } of saver.list(place)) {
    if ("messages" in checkpoint.channel_values) oldest = checkpoint.channel_values;
  }
  const fields = Object.keys(given).flatMap((field) =>
    oldest[field] === undefined || (field === "messages" && !isAskedAgain)
      ? []
      : [[field, oldest[field]] as const],
  );
  return { ...given, ...Object.fromEntries(fields) };
}
