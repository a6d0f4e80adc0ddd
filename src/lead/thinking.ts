import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { LeadRequest } from "./request.ts";

const BUDGET = { low: 2048, medium: 8192, high: 24_576 };

/** How each provider's client is told to think; the fields are those of its constructor. */
const SETTINGS: Record<string, (on: boolean, effort: NonNullable<LeadRequest["reasoningEffort"]>) => object> =
  {
    ChatOpenAI: (on, effort) => ({ reasoning: { effort: on ? effort : "minimal" } }),
    ChatAnthropic: (on, effort) => ({
      thinking: on ? { type: "enabled", budget_tokens: BUDGET[effort] } : { type: "disabled" },
      thinkingExplicitlySet: true,
    }),
    ChatOllama: (on) => ({ think: on }),
    ChatGoogleGenerativeAI: (on, effort) => ({ thinkingConfig: { thinkingBudget: on ? BUDGET[effort] : 0 } }),
  };

/** The model with thinking switched on or off, as the request wants it. Where that cannot be, `warn` is told. */
export function withThinking(
  model: BaseChatModel,
  { thinkingEnabled, reasoningEffort }: Pick<LeadRequest, "thinkingEnabled" | "reasoningEffort">,
  warn: (message: string) => void,
): BaseChatModel {
  if (thinkingEnabled === undefined && reasoningEffort === undefined) return model;
  const settings = SETTINGS[model.getName()];
  if (!settings) {
    const asked = thinkingEnabled ? "thinking_enabled" : reasoningEffort && "reasoning_effort";
    if (asked) warn(`${model.getName()} has no setting for thinking; ${asked} is ignored`);
    return model;
  }
  // A copy: the same instance may serve requests that want it otherwise.
  const copy = Object.create(
    Object.getPrototypeOf(model) as object,
    Object.getOwnPropertyDescriptors(model),
  ) as BaseChatModel;
  return Object.assign(copy, settings(thinkingEnabled ?? true, reasoningEffort ?? "medium"));
}
