import { renderChecklist, renderMarkdown, renderMermaid, type Todo } from "../../../plan/index.ts";
import { EXIT } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { findThread, statePath, withSaver } from "../threads.ts";

export const FORMATS = ["checklist", "markdown", "mermaid", "json"] as const;

export interface ShowFlags {
  thread: string;
  format: (typeof FORMATS)[number];
  state?: string | undefined;
}

/** `holdfast show`: prints the plan of a thread. */
export async function show({ thread, format, state }: ShowFlags, terminal: Terminal): Promise<number> {
  const text = await withSaver(statePath(state, terminal), async (saver) => {
    const summary = await findThread(saver, thread);
    const stored = await saver.getTuple({ configurable: { thread_id: summary.id } });
    const todos = (stored?.checkpoint.channel_values["todos"] ?? []) as Todo[];
    if (format === "json") return JSON.stringify({ ...summary, plan: todos }, null, 2);
    return todos.length === 0 ? `Thread ${summary.id} has no plan.` : RENDERERS[format](todos);
  });
  terminal.stdout.write(`${text.trimEnd()}\n`);
  return EXIT.done;
}

const RENDERERS = { checklist: renderChecklist, markdown: renderMarkdown, mermaid: renderMermaid };
