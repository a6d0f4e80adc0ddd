import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessageChunk } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";

/** An event of LangChain's `streamEvents`, version 2. */
interface TracedEvent {
  event: string;
  name: string;
  run_id: string;
  tags: string[];
  metadata: Record<string, unknown>;
  data: object;
}

type Handler = Required<BaseCallbackHandler>;

interface Started extends Pick<TracedEvent, "name" | "tags" | "metadata"> {
  kind: string;
  input: unknown;
}

/** A start as LangChain reports it, with empty fields left out. */
type Starting = Omit<Started, "tags" | "metadata"> & {
  tags: string[] | undefined;
  metadata: Record<string, unknown> | undefined;
};

/**
 * Makes the events of `streamEvents` from callbacks, without a second run of the graph. There is no `on_chain_stream`:
 * callbacks do not see a graph's chunks, which LangGraph's other modes have.
 */
export class TracedEvents extends BaseCallbackHandler {
  name = "holdfast-traced-events";
  readonly lc_prefer_streaming = true;
  override awaitHandlers = true;
  readonly #sink: (event: TracedEvent) => void;
  readonly #started = new Map<string, Started>();

  constructor(sink: (event: TracedEvent) => void) {
    super();
    this.#sink = sink;
  }

  override handleChainStart(...args: Parameters<Handler["handleChainStart"]>): void {
    const [chain, inputs, id, , tags, metadata, type, name] = args;
    const { input, ...others } = inputs as { input?: unknown };
    const only = input !== undefined && Object.keys(others).length === 0 ? input : inputs;
    this.#start(id, { kind: type ?? "chain", name: name ?? nameOf(chain), tags, metadata, input: only });
  }

  override handleChainEnd(...[outputs, id]: Parameters<Handler["handleChainEnd"]>): void {
    this.#end(id, "end", { output: (outputs as { output?: unknown } | undefined)?.output ?? outputs });
  }

  override handleChainError(...[, id]: Parameters<Handler["handleChainError"]>): void {
    this.#started.delete(id);
  }

  override handleChatModelStart(...args: Parameters<Handler["handleChatModelStart"]>): void {
    const [model, messages, id, , , tags, metadata, name] = args;
    this.#start(id, { kind: "chat_model", name: name ?? nameOf(model), tags, metadata, input: { messages } });
  }

  override handleLLMNewToken(...args: Parameters<Handler["handleLLMNewToken"]>): void {
    const [token, , id, , , fields] = args;
    const { message } = (fields?.chunk ?? {}) as { message?: AIMessageChunk };
    const chunk = message ?? new AIMessageChunk({ content: token, id: `run-${id}` });
    this.#emit(id, "stream", { chunk });
  }

  override handleLLMEnd({ generations }: LLMResult, id: string): void {
    const { message } = (generations[0]?.[0] ?? {}) as { message?: unknown };
    this.#end(id, "end", { output: message });
  }

  override handleLLMError(...[, id]: Parameters<Handler["handleLLMError"]>): void {
    this.#started.delete(id);
  }

  override handleToolStart(...args: Parameters<Handler["handleToolStart"]>): void {
    const [tool, input, id, , tags, metadata, name] = args;
    this.#start(id, { kind: "tool", name: name ?? nameOf(tool), tags, metadata, input: { input } });
  }

  override handleToolEnd(...[output, id]: Parameters<Handler["handleToolEnd"]>): void {
    this.#end(id, "end", { output: output as unknown });
  }

  override handleToolError(...[error, id]: Parameters<Handler["handleToolError"]>): void {
    this.#end(id, "error", { error: error instanceof Error ? error.message : String(error) });
  }

  override handleCustomEvent(...args: Parameters<Handler["handleCustomEvent"]>): void {
    const [name, data, id, tags = [], metadata = {}] = args;
    this.#sink({ event: "on_custom_event", run_id: id, name, tags, metadata, data: data as object });
  }

  #start(id: string, { tags = [], metadata = {}, ...rest }: Starting): void {
    this.#started.set(id, { ...rest, tags, metadata });
    this.#emit(id, "start", { input: rest.input });
  }

  #end(id: string, what: "end" | "error", data: object): void {
    this.#emit(id, what, { ...data, input: this.#started.get(id)?.input });
    this.#started.delete(id);
  }

  #emit(id: string, what: string, data: object): void {
    const started = this.#started.get(id);
    if (!started) return;
    const { kind, name, tags, metadata } = started;
    this.#sink({ event: `on_${kind}_${what}`, name, run_id: id, tags, metadata, data });
  }
}

function nameOf(serialized: { id?: string[]; name?: unknown } | undefined): string {
  return typeof serialized?.name === "string" ? serialized.name : (serialized?.id?.at(-1) ?? "Unnamed");
}
