import { oneLine, shown, type Harmless } from "../output/index.ts";
import { echoOf, typedFor, markdownRows } from "../view/index.ts";
import { quoted } from "../wording.ts";
import type { SessionConversation } from "./conversation.ts";

/** The most displayed rows of the last answer. */
const MAX_ROWS = 12;

/**
 * Shows the last message and answer of the thread that a session continues. With `isAsked`, a question that waits is
 * asked again.
 */
export async function showThread(conversation: SessionConversation, { isAsked = true } = {}): Promise<void> {
  const { thread, paint, terminal } = conversation;
  if (thread === undefined) return;
  const { asked, answer, isRunning, isStopped, isWaiting } = await (await thread.read()).status();
  const columns = (terminal.stdout.columns || 80) - 1;
  const rows = answer ? markdownRows(answer, { columns, paint }) : [];
  conversation.say(
    paint("dim", oneLine(`continuing ${thread.id}`)),
    ...(asked ? [...echoOf(typedFor(asked), paint), shown``] : []),
    ...(rows.length > MAX_ROWS ? [paint("dim", moreIn(thread.id))] : []),
    ...rows.slice(-MAX_ROWS),
    ...(rows.length > 0 ? [shown``] : []),
  );
  if (isRunning) return conversation.say(paint("dim", RUNS));
  if (isWaiting && isAsked) return conversation.goOn();
  if (isStopped) conversation.say(paint("dim", isWaiting ? WAITS : STOPPED));
}

const RUNS = shown`Another process works on it: its agent reads your message at its next call.`;
const WAITS = shown`A question is open: /continue asks it again; a message continues without an answer.`;
const STOPPED = shown`It was stopped in the middle: /continue resumes it, a message starts something else.`;

function moreIn(thread: string): Harmless {
  return oneLine(`… the whole of it: holdfast show ${quoted(thread)} --transcript`);
}
