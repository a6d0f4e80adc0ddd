import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { lastValue } from "../state/index.ts";
import { hiddenMessage, quotedText, withSection } from "../text/index.ts";
import { CHANGED, INSTRUCTIONS } from "./instructions.prompt.ts";
import { MAX_INSTRUCTIONS, type InstructionSource } from "./options.ts";
import { readText } from "./read-text.ts";

/** The instructions in a thread's prompt, and their replacements since, each with the message that it follows. */
const TOLD = z.object({
  prompt: z.string(),
  changes: z.array(z.object({ after: z.string(), text: z.string() })),
});
type Told = z.output<typeof TOLD>;

/**
 * Adds instructions to the system prompt. They are read for every model call. Those that a thread began with stay in
 * its prompt, byte by byte, and a change is told by a message at the place where it was noticed: the provider's cache
 * holds. No graph step.
 */
export function instructionsMiddleware(sources: readonly InstructionSource[]) {
  return createMiddleware({
    name: "InstructionsMiddleware",
    stateSchema: new StateSchema({ _instructions: lastValue(TOLD.optional()) }),
    wrapModelCall: async (request, handler) => {
      const { _instructions: before } = request.state as { _instructions?: Told };
      const told = toldOf(before, await readAll(sources), request.messages);
      const section = told.prompt && `${INSTRUCTIONS}\n${told.prompt}`;
      const answer = await handler({
        ...request,
        systemMessage: withSection(request.systemMessage, section),
        messages: withChanges(request.messages, told),
      });
      // A structured response ends the run, and LangChain takes it only as it is.
      if (told === (before ?? NOTHING) || !AIMessage.isInstance(answer)) return answer;
      return new Command({ update: { _instructions: told } });
    },
  });
}

const NOTHING: Told = { prompt: "", changes: [] };

function toldOf(before: Told | undefined, now: string, messages: readonly BaseMessage[]): Told {
  const { prompt, changes } = before ?? NOTHING;
  const ids = new Set(messages.map(({ id }) => id));
  const latest = changes.at(-1)?.text ?? prompt;
  // Where the conversation is another, as after a summary, there is nothing left in a cache.
  const isWhole = changes.every(({ after }) => ids.has(after));
  if (before && isWhole && latest === now) return before;
  if (!before && now === "") return NOTHING;
  const after = messages.at(-1)?.id;
  if (!before || !isWhole || after === undefined) return { prompt: now, changes: [] };
  return { prompt, changes: [...changes, { after, text: now }] };
}

function withChanges(messages: BaseMessage[], { changes }: Told): BaseMessage[] {
  if (changes.length === 0) return messages;
  const texts = new Map(changes.map(({ after, text }) => [after, text]));
  return messages.flatMap((message) => {
    const text = message.id === undefined ? undefined : texts.get(message.id);
    return text === undefined ? [message] : [message, changeMessage(text)];
  });
}

function changeMessage(text: string): BaseMessage {
  return hiddenMessage({
    name: "instructions_change",
    text: `<system_reminder>${CHANGED}\n${text || "none."}</system_reminder>`,
  });
}

async function readAll(sources: readonly InstructionSource[]): Promise<string> {
  const parts: string[] = [];
  let left = MAX_INSTRUCTIONS;
  for (const source of sources) {
    const { text, from } = await read(source, left);
    const kept = Buffer.byteLength(text) > left ? beginning(text, left) : text;
    left -= Buffer.byteLength(kept);
    if (kept.trim()) parts.push(from === undefined ? kept.trim() : quotedText("instructions", from, kept));
  }
  return parts.join("\n");
}

async function read(source: InstructionSource, limit: number): Promise<{ text: string; from?: string }> {
  if (typeof source === "string") return { text: source };
  if (typeof source === "function") return { text: await source() };
  const found = await readText(source.file, limit);
  return { text: "text" in found ? found.text : "", from: source.file };
}

function beginning(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

export { type InstructionSource, MAX_INSTRUCTIONS } from "./options.ts";
export { readText } from "./read-text.ts";
