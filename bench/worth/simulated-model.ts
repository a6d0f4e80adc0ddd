import { BaseChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { piecesOf, type Counter } from "../count.ts";
import { decide } from "./deciding.ts";
import { dialectFor, type ShownTools } from "./dialects.ts";
import { NO_FAULTS, type Faults } from "./faults.ts";
import { readMessages } from "./reading.ts";
import { summarize } from "./summarizer.ts";

/** What a run has cost so far. */
export interface Spending {
  calls: number;
  tokens: number;
}

abstract class CountedModel extends BaseChatModel {
  spent: Spending = { calls: 0, tokens: 0 };
  readonly #counter: Counter;
  readonly #toolTokens = new Map<string, number>();

  constructor(counter: Counter) {
    super({});
    this.#counter = counter;
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: object,
  ): ReturnType<NonNullable<BaseChatModel["bindTools"]>> {
    return this.withConfig({ ...kwargs, tools } as object);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const { tools = [] } = options as { tools?: BindToolsInput[] };
    const shown = shownTools(tools);
    const message = this.answer(messages, shown);
    this.spent.calls += 1;
    this.spent.tokens += this.#counter.count(piecesOf({ tools: [], messages: [...messages, message] }));
    this.spent.tokens += this.#tokensOf(tools, shown.names.join());
    return { generations: [{ message, text: message.text }] };
  }

  abstract answer(messages: readonly BaseMessage[], tools: ShownTools): AIMessage;

  /** Every request of an agent has the same tools: converting them each time would take longer than the run. */
  #tokensOf(tools: readonly BindToolsInput[], key: string): number {
    const known = this.#toolTokens.get(key);
    if (known !== undefined) return known;
    const definitions = tools.map((tool) => convertToOpenAITool(tool as never));
    const tokens = this.#counter.count(piecesOf({ tools: definitions, messages: [] }));
    this.#toolTokens.set(key, tokens);
    return tokens;
  }
}

function shownTools(tools: readonly BindToolsInput[]): ShownTools {
  const all = tools as readonly { name: string; schema?: { properties?: object } }[];
  const reportsInline = all.some(({ schema }) => "todo_done" in (schema?.properties ?? {}));
  return { names: all.map(({ name }) => name), reportsInline };
}

/**
 * A model with stated failure rates. Its answer is a function of its seed, its faults and the request: it keeps
 * nothing between two calls but the count of its tokens.
 */
export class SimulatedModel extends CountedModel {
  seed = "";
  faults: Faults = NO_FAULTS;

  override _llmType(): string {
    return "simulated";
  }

  answer(messages: readonly BaseMessage[], tools: ShownTools): AIMessage {
    const { seed, faults } = this;
    const belief = readMessages(messages, seed);
    const dialect = dialectFor(tools);
    const prompt = messages.find((message) => SystemMessage.isInstance(message))?.text ?? "";
    const answerCompletes = prompt.includes("final answer completes the last item");
    const { text, calls, broken } = decide(belief, { seed, faults, dialect, answerCompletes });
    const id = (at: number): string => `call_${belief.turn}_${at + 1}`;
    return new AIMessage({
      id: `turn_${belief.turn}`,
      content: text,
      tool_calls: calls.map((call, at) => ({ type: "tool_call" as const, ...call, id: id(at) })),
      invalid_tool_calls:
        broken === undefined
          ? []
          : [
              {
                type: "invalid_tool_call",
                name: broken,
                args: '{"todos": [{"content": "Migrate"]}',
                id: id(calls.length),
                error: "not JSON",
              },
            ],
    });
  }
}

/** The model that writes summaries: the same function of the conversation for every system. */
export class Summarizer extends CountedModel {
  override _llmType(): string {
    return "summarizer";
  }

  answer(messages: readonly BaseMessage[]): AIMessage {
    const text = messages.map((message) => message.text).join("\n");
    return new AIMessage(summarize(text.slice(text.lastIndexOf("<messages>"))));
  }
}
