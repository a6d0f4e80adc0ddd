import { HarnessError } from "../../../../errors.ts";
import { renderChecklist, renderMarkdown, renderMermaid } from "../../../../plan/index.ts";
import { renderRules } from "../../../../plan/render/render.ts";
import type { ThreadSummary } from "../../../../storage/index.ts";
import { jsonText } from "../../../../threads/events/json-text.ts";
import { replay } from "../../../../threads/record/replay.ts";
import { transcript } from "../../../../threads/story/transcript.ts";
import type { Thread, ThreadContent } from "../../../../threads/thread/thread.ts";
import { EXIT } from "../../exit-codes.ts";
import { exact } from "../../output/harmless.ts";
import type { Terminal } from "../../terminal.ts";
import { openThread } from "../../threads/thread-agent.ts";
import { findThread, statePath, withSaver, type StateFlags } from "../../threads/threads.ts";
import { quoted } from "../../wording.ts";

export interface ShowFlags extends StateFlags {
  thread: string;
  format: "checklist" | "markdown" | "mermaid" | "json";
  answer?: boolean | undefined;
  transcript?: boolean | undefined;
  json?: boolean | undefined;
  files?: boolean | undefined;
  file?: string | undefined;
}

/** `holdfast show`: prints the plan of a thread, its answer, or the files that live in it. */
export async function show(flags: ShowFlags, terminal: Terminal): Promise<number> {
  const text = await withSaver(statePath(flags, terminal), async (saver) => {
    const summary = await findThread(saver, flags.thread);
    const thread = await (await openThread(saver, summary.id, { flags, terminal })).read();
    if (flags.transcript || flags.json) return history(flags, summary, thread);
    return textOf(flags, summary, await thread.content());
  });
  const { stdout } = terminal;
  stdout.write(exact(text.endsWith("\n") ? text : `${text}\n`, stdout));
  return EXIT.done;
}

/** The thread from its first message to its last. */
async function history({ json }: ShowFlags, { state }: ThreadSummary, thread: Thread): Promise<string> {
  const events = await replay(thread, { isRunning: state === "running" });
  return json ? events.map((event) => jsonText(event)).join("\n") : transcript(events);
}

function textOf(
  { format, answer, files: listed, file }: ShowFlags,
  summary: ThreadSummary,
  thread: ThreadContent,
): string {
  if (file !== undefined) return contentOf(file, thread);
  if (listed)
    return Object.keys(thread.files).toSorted().join("\n") || `Thread ${quoted(summary.id)} holds no files.`;
  if (answer) return thread.answer || `Thread ${quoted(summary.id)} has no answer yet.`;
  const { todos, rules } = thread;
  if (format === "json") {
    return jsonText(
      { ...summary, plan: todos, ...(rules.length > 0 && { rules }), answer: thread.answer },
      2,
    );
  }
  if (todos.length === 0) return `Thread ${quoted(summary.id)} has no plan; see --answer.`;
  const plan = RENDERERS[format](todos);
  return rules.length > 0 && format !== "mermaid" ? `${plan.trimEnd()}\n\n${renderRules(rules)}` : plan;
}

const RENDERERS = { checklist: renderChecklist, markdown: renderMarkdown, mermaid: renderMermaid };

function contentOf(file: string, { files }: ThreadContent): string {
  const content = files[file] ?? files[`/${file}`];
  if (content !== undefined) return content;
  const known = Object.keys(files).toSorted().slice(0, 10).join(", ") || "none";
  throw new HarnessError(
    "invalid-options",
    `There is no file ${JSON.stringify(file)} in the thread; there are: ${known}.`,
  );
}
