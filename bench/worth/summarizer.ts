import { draw } from "./draw.ts";
import { SUMMARY_LOSS } from "./faults.ts";
import { stepIn } from "./job.ts";

/** The words by which a summary is known. */
export const SUMMARY_MARK = "Summary: services are being migrated.";

/**
 * Summarizes a conversation, as text in, text out: it keeps the goal, how much was done and most of what is left in
 * prose, not the plan. It leaves out open steps at a stated rate, and all dependencies.
 */
export function summarize(conversation: string): string {
  const open = new Set<string>();
  const done = new Set<string>();
  let before = 0;
  for (const line of conversation.split("\n")) {
    if (line.includes(SUMMARY_MARK)) before = Math.max(before, Number(/(\d+) done/.exec(line)?.[1] ?? 0));
    for (const name of namesToDo(line)) open.add(name);
    for (const [item] of line.matchAll(ITEM)) {
      const name = stepIn(item)?.name;
      if (name !== undefined) (COMPLETED.test(item) ? done : open).add(name);
    }
    for (const [, name] of line.matchAll(/Done(?: again)?: (\w+)\./g)) done.add(name!);
    for (const [, name] of line.matchAll(/Finished (\w+)\./g)) done.add(name!);
  }
  const left = [...open].filter((name) => !done.has(name));
  const kept = left.filter((name) => draw("summary", left.join(), name) >= SUMMARY_LOSS);
  const last = [...done].at(-1);
  return [
    SUMMARY_MARK,
    `${Math.max(before, done.size)} done${last === undefined ? "" : `, the last one was ${last}`}.`,
    kept.length > 0 ? `To do: ${kept.join(", ")}.` : "",
  ]
    .join(" ")
    .trim();
}

/** What a summary says is left. */
export function namesToDo(text: string): string[] {
  return /To do: ([\w, ]+)\./.exec(text)?.[1]?.split(", ") ?? [];
}

/** An item in any of the forms in which a plan appears: in the arguments of a call, or as a line with a mark. */
const ITEM = /(?:\[[^\]"]{1,11}\] [^"\n]*)?Migrate the \w+ service[^"\n]*(?:"[^}]*)?/g;
const COMPLETED = /^\[(?:x|completed)\]|"status\\?":\s*\\?"completed/;
