import type { ToolDefinition } from "@langchain/core/language_models/base";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { HarnessError } from "../errors.ts";
import { PlayedModel } from "../models/played-model/index.ts";

/** One answer of a scripted model: text, tool calls, a message, an error to throw, or a function of the request. */
export type Step =
  | string
  | ScriptedCall
  | ScriptedCall[]
  | AIMessage
  | Error
  | ((request: ModelRequestRecord) => Step | Promise<Step>);

export interface ScriptedCall {
  name: string;
  args: Record<string, unknown>;
  id?: string;
}

/** A request as a provider would receive it. */
export interface ModelRequestRecord {
  messages: BaseMessage[];
  /** The tool definitions in OpenAI's form. */
  tools: unknown[];
}

/**
 * Creates a tool call for a script.
 *
 * @example
 * ```ts
 * import { callTool, ScriptedModel } from "holdfast/testing";
 *
 * const read = [callTool("read_file", { path: "/a.md" }), callTool("read_file", { path: "/b.md" })];
 * const model = new ScriptedModel([read, "Both files are empty."]);
 * ```
 */
export function callTool(name: string, args: Record<string, unknown> = {}, id?: string): ScriptedCall {
  return { name, args, id };
}

/**
 * A chat model that plays a script and records every request. Running past the end throws, unless `loop` is set.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { callTool, ScriptedModel } from "holdfast/testing";
 *
 * const model = new ScriptedModel([callTool("ls", { path: "/" }), "There are no files."]);
 * await createDeepAgent({ model }).invoke({ messages: "List the files" });
 * console.log(model.requests.length); // 2
 * ```
 */
export class ScriptedModel extends PlayedModel {
  readonly requests: ModelRequestRecord[] = [];
  readonly #steps: readonly Step[];
  readonly #loop: boolean;
  /** For message ids, which must differ between models that share a thread. */
  readonly #name = crypto.randomUUID().slice(0, 8);
  #next = 0;

  constructor(steps: readonly Step[], { loop = false }: { loop?: boolean } = {}) {
    super({});
    this.#steps = steps;
    this.#loop = loop;
  }

  override _llmType(): string {
    return "scripted";
  }

  protected override async answer(messages: BaseMessage[], tools: ToolDefinition[]): Promise<AIMessage> {
    const request: ModelRequestRecord = { messages: [...messages], tools };
    this.requests.push(request);
    const index = this.#next++;
    const step = this.#steps[this.#loop ? index % this.#steps.length : index];
    if (step === undefined) {
      throw new HarnessError(
        "script-exhausted",
        `The script has ${this.#steps.length} steps; this is request ${index + 1}. It ends with: ${messages.at(-1)?.text.slice(0, 300)}`,
      );
    }
    return toMessage(await resolved(step, request), `${this.#name}-${index + 1}`);
  }
}

type ResolvedStep = Exclude<Step, (...args: never[]) => unknown>;

async function resolved(step: Step, request: ModelRequestRecord): Promise<ResolvedStep> {
  return typeof step === "function" ? resolved(await step(request), request) : step;
}

function toMessage(step: ResolvedStep, id: string): AIMessage {
  if (step instanceof Error) throw step;
  if (typeof step === "string") return new AIMessage({ content: step, id });
  if (AIMessage.isInstance(step)) return withId(step, id);
  const calls = Array.isArray(step) ? step : [step];
  const tool_calls = calls.map(({ name, args, id: callId }, at) => ({
    type: "tool_call" as const,
    name,
    args,
    id: callId ?? `call-${id}-${at + 1}`,
  }));
  return new AIMessage({ content: "", id, tool_calls });
}

/** Copies a message for each request, because LangChain modifies messages. */
function withId(message: AIMessage, id: string): AIMessage {
  const { content, tool_calls = [], invalid_tool_calls = [], usage_metadata } = message;
  const { additional_kwargs, response_metadata } = message;
  return new AIMessage({
    content,
    tool_calls,
    invalid_tool_calls,
    additional_kwargs,
    response_metadata,
    id: message.id ?? id,
    ...(usage_metadata ? { usage_metadata } : {}),
  });
}
