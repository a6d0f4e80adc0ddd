import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { lastValue } from "../state/index.ts";
import { quotedText, reminderMessage, withSection } from "../text/index.ts";
import { CHANGED, INSTRUCTIONS } from "./instructions.prompt.ts";
import { MAX_INSTRUCTIONS, type InstructionSource } from "./options.ts";
import { readText } from "./read-text.ts";

export { type InstructionSource, MAX_INSTRUCTIONS } from "./options.ts";
export { readText } from "./read-text.ts";

/** The instructions in a thread's prompt, and later versions, each with the id of the message before it. */
const HISTORY = z.object({
  prompt: z.string(),
  changes: z.array(z.object({ after: z.string(), text: z.string() })),
});
type History = z.output<typeof HISTORY>;

/**
 * Adds instructions to the system prompt. They are read for every model call. The first version stays in the thread's
 * prompt, and a later version is a message at the position where it was noticed, so the provider's cache stays valid.
 * Adds no graph step.
 */
export function instructionsMiddleware(sources: readonly InstructionSource[]) {
  return createMiddleware({
    name: "InstructionsMiddleware",
    stateSchema: new StateSchema({ _instructions: lastValue(HISTORY.optional()) }),
    wrapModelCall: async (request, handler) => {
      const { _instructions: before } = request.state as { _instructions?: History };
      const history = updatedHistory(before, await readAll(sources), request.messages);
      const section = history.prompt && `${INSTRUCTIONS}\n${history.prompt}`;
      const answer = await handler({
        ...request,
        systemMessage: withSection(request.systemMessage, section),
        messages: withChanges(request.messages, history),
      });
      // A structured response ends the run, and LangChain does not accept it in a command.
      if (history === (before ?? EMPTY) || !AIMessage.isInstance(answer)) return answer;
      return new Command({ update: { _instructions: history } });
    },
  });
}

const EMPTY: History = { prompt: "", changes: [] };

function updatedHistory(before: History | undefined, now: string, messages: readonly BaseMessage[]): History {
  const { prompt, changes } = before ?? EMPTY;
  const ids = new Set(messages.map(({ id }) => id));
  const latest = changes.at(-1)?.text ?? prompt;
  // If the messages before a change are gone, as after a summary, nothing is cached: begin again.
  const isComplete = changes.every(({ after }) => ids.has(after));
  if (before && isComplete && latest === now) return before;
  if (!before && now === "") return EMPTY;
  const after = messages.at(-1)?.id;
  if (!before || !isComplete || after === undefined) return { prompt: now, changes: [] };
  return { prompt, changes: [...changes, { after, text: now }] };
}

function withChanges(messages: BaseMessage[], { changes }: History): BaseMessage[] {
  if (changes.length === 0) return messages;
  const texts = new Map(changes.map(({ after, text }) => [after, text]));
  return messages.flatMap((message) => {
    const text = message.id === undefined ? undefined : texts.get(message.id);
    if (text === undefined) return [message];
    return [message, reminderMessage("instructions_change", `${CHANGED}\n${text || "none."}`)];
  });
}

async function readAll(sources: readonly InstructionSource[]): Promise<string> {
  const parts: string[] = [];
  let left = MAX_INSTRUCTIONS;
  for (const source of sources) {
    const { text, path } = await read(source, left);
    const part = Buffer.byteLength(text) > left ? beginning(text, left) : text;
    left -= Buffer.byteLength(part);
    if (part.trim()) parts.push(path === undefined ? part.trim() : quotedText("instructions", path, part));
  }
  return parts.join("\n");
}

async function read(source: InstructionSource, limit: number): Promise<{ text: string; path?: string }> {
  if (typeof source === "string") return { text: source };
  if (typeof source === "function") return { text: await source() };
  const file = await readText(source.file, limit);
  return { text: "text" in file ? file.text : "", path: source.file };
}

function beginning(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
