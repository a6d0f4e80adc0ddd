import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type Effort } from "../../vocabulary.ts";
import { sendsThoughts } from "../clients/deepseek.ts";
import { fieldsOf } from "../secrets/index.ts";

/** An effort with which a model thinks. */
export type ThinkingEffort = Exclude<Effort, "off">;

/** The requested thinking, and the name of the model. */
interface ThinkingRequest {
  name: string;
  on: boolean;
  effort: ThinkingEffort | undefined;
}

/** The fields of a client to change, and a warning. Without `fields` the request cannot be fulfilled. */
interface ThinkingChange {
  fields?: object;
  /** `{model}` is replaced by the model's name. */
  warning?: string;
}

/** Functions that set thinking, by the class of a LangChain client. The values depend on the model's name. */
export const CLIENTS: Record<string, (request: ThinkingRequest, model: BaseChatModel) => ThinkingChange> = {
  ChatOpenAI: openAIThinking,
  ChatAnthropic: anthropicThinking,
  ChatGoogleGenerativeAI: googleThinking,
  ChatOllama: ollamaThinking,
  ChatGroq: groqThinking,
  ChatMistralAI: mistralThinking,
};

const NEVER = "{model} is not known to think";
const ALWAYS = "{model} cannot be kept from thinking";
/** The warning for an unknown model. */
export const UNSURE = "{model} may think, and it is not known how to keep it from that";
/** Tokens for providers that take a number. */
const BUDGET: Record<ThinkingEffort, number> = { low: 2048, medium: 8192, high: 24_576 };
const ANTHROPIC_LEAST = 1024;

/** The efforts of OpenAI's reasoning models; the first matching pattern counts. `none` and `minimal` count as off. */
const OPENAI_EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^o1-(mini|preview)|^(o\d|gpt-5).*-(chat|deep-research)/, []],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5\.\d+-pro/, ["medium", "high"]],
  [/^(o\d|gpt-5.*codex|gpt-oss)/, ["low", "medium", "high"]],
  [/^gpt-5\.\d/, ["none", "low", "medium", "high"]],
  [/^gpt-5/, ["minimal", "low", "medium", "high"]],
];

function openAIThinking(request: ThinkingRequest, model: BaseChatModel): ThinkingChange {
  const { name, on } = request;
  const { reasoning, modelKwargs, useResponsesApi } = fieldsOf(model) as {
    reasoning?: object;
    modelKwargs?: object;
    useResponsesApi?: boolean;
  };
  if (/^deepseek-(chat|reasoner|flash|pro|v\d)/.test(name)) {
    // Its API requires the thoughts of earlier turns, which LangChain's client alone does not send.
    if (on && !sendsThoughts(model))
      return { warning: "{model} cannot think and call tools through this client" };
    const thinking = { type: on ? "enabled" : "disabled" };
    const effort = on && request.effort ? { reasoning_effort: request.effort } : {};
    return { fields: { modelKwargs: { ...modelKwargs, thinking, ...effort } } };
  }
  const baseName = name.replace(/^.*\//, "");
  const efforts = OPENAI_EFFORTS.find(([pattern]) => pattern.test(baseName))?.[1] ?? [];
  if (efforts.length === 0) return unknown(request, /^(gpt-[34]|chatgpt-4|gpt-5.*-chat)/.test(baseName));
  const effort = effortAmong(efforts, request);
  if (effort === undefined) {
    return { warning: on ? `{model} has no effort "${request.effort}", only ${efforts.join(", ")}` : ALWAYS };
  }
  // LangChain drops `reasoning` for models whose names it does not know.
  if (!/^(o\d|gpt-5)/.test(name)) {
    const kwargs = useResponsesApi ? { reasoning: { effort } } : { reasoning_effort: effort };
    return { fields: { modelKwargs: { ...modelKwargs, ...kwargs } } };
  }
  const fields = { reasoning: { ...reasoning, effort } };
  // OpenAI's chat API refuses tools next to the effort of a newer model.
  if (!on || !/^gpt-5\.([2-9]|\d\d)/.test(name)) return { fields };
  if (useResponsesApi === false)
    return { warning: "{model} can think and call tools only over OpenAI's responses API" };
  return { fields: { ...fields, useResponsesApi: true } };
}

/** The change for a model without a setting. `isQuiet`: the model is known not to think. */
function unknown({ on }: ThinkingRequest, isQuiet: boolean): ThinkingChange {
  if (on) return { warning: NEVER };
  return isQuiet ? {} : { warning: UNSURE };
}

function effortAmong(efforts: readonly string[], { on, effort }: ThinkingRequest): string | undefined {
  if (!on) return efforts.find((one) => one === "none" || one === "minimal");
  if (effort !== undefined) return efforts.find((one) => one === effort);
  return efforts.find((one) => one === "medium") ?? efforts.at(-1);
}

function anthropicThinking({ name, on, effort }: ThinkingRequest, model: BaseChatModel): ThinkingChange {
  const { maxTokens } = model as unknown as { maxTokens: number };
  const [, major, minor = "0"] = /^claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(name) ?? [];
  // Models of other servers of this protocol have no version. They get the older form of the setting.
  const version = major === undefined ? undefined : Number(major) * 100 + Number(minor);
  const isMythical = /^claude-(fable|mythos)/.test(name);
  if (version !== undefined && version < 307) return on ? { warning: NEVER } : {};
  if (!on) return isMythical ? { warning: ALWAYS } : { fields: { thinking: { type: "disabled" } } };

  const { temperature, topP, topK, outputConfig } = fieldsOf(model) as Record<string, object | undefined>;
  const isSampled = [temperature, topP, topK].some((value) => value !== undefined);
  const unsampled = { temperature: undefined, topP: undefined, topK: undefined };
  const warning = {
    warning: "{model} takes no temperature, topP and topK while it thinks; they are left out",
  };
  const change = (fields: object): ThinkingChange => ({
    fields: { ...unsampled, ...fields },
    ...(isSampled && warning),
  });
  if (isMythical || (version !== undefined && version >= 406)) {
    const config = effort === undefined ? {} : { outputConfig: { ...outputConfig, effort } };
    return change({ thinking: { type: "adaptive" }, ...config });
  }
  // The budget is part of `max_tokens`, and the answer needs the rest.
  const budget = Math.min(BUDGET[effort ?? "medium"], Math.floor(maxTokens * 0.75));
  if (budget < ANTHROPIC_LEAST) return { warning: `maxTokens ${maxTokens} leaves {model} no room to think` };
  return change({ thinking: { type: "enabled", budget_tokens: budget } });
}

function googleThinking(request: ThinkingRequest, model: BaseChatModel): ThinkingChange {
  const { name, on, effort = "medium" } = request;
  const config = fieldsOf(model)["thinkingConfig"] as { includeThoughts?: boolean } | undefined;
  const visibility = config?.includeThoughts === undefined ? {} : { includeThoughts: config.includeThoughts };
  const change = (thinking: object): ThinkingChange => ({
    fields: { thinkingConfig: { ...visibility, ...thinking } },
  });
  if (!/^gemini-(2\.5|[3-9]|[a-z-]*latest)/.test(name)) {
    return unknown(request, /^gemini-(1|2\.0)(?!.*thinking)/.test(name));
  }
  // Thinking of newer models, and of `latest`, cannot reliably be switched off.
  if (!on) return name.startsWith("gemini-2.5-flash") ? change({ thinkingBudget: 0 }) : { warning: ALWAYS };
  // Both generations take budgets, only the newer one takes levels.
  if (!/^gemini-[3-9]/.test(name)) return change({ thinkingBudget: BUDGET[effort] });
  const level = name.startsWith("gemini-3-pro") && effort === "medium" ? "high" : effort;
  return change({ thinkingLevel: level.toUpperCase() });
}

/** The model families of Ollama's library that think. The server refuses `think` for any other. */
const OLLAMA_THINKS = /(^|\/)(qwen3(?!-coder|.*instruct)|deepseek-(r1|v3\.[1-9])|magistral|[\w.-]*thinking)/;

function ollamaThinking({ name, on, effort }: ThinkingRequest): ThinkingChange {
  if (/(^|\/)gpt-oss/.test(name)) return on ? { fields: { think: effort ?? "medium" } } : { warning: ALWAYS };
  // Every model accepts `think: false`.
  if (!on) return { fields: { think: false } };
  if (!OLLAMA_THINKS.test(name)) return { warning: NEVER };
  const warning = { warning: "{model} has no levels of thinking; reasoning_effort only switches it on" };
  return { fields: { think: true }, ...(effort !== undefined && warning) };
}

function groqThinking(request: ThinkingRequest): ThinkingChange {
  const { name, on, effort } = request;
  if (/gpt-oss/.test(name)) {
    return on ? { fields: { reasoningEffort: effort ?? "medium" } } : { warning: ALWAYS };
  }
  if (/qwen-?3/.test(name)) return { fields: { reasoningEffort: on ? "default" : "none" } };
  return unknown(request, /^(meta-llama\/)?(llama|gemma|mixtral)/.test(name));
}

function mistralThinking({ name, on }: ThinkingRequest): ThinkingChange {
  if (on) return { warning: "ChatMistralAI has no setting for thinking" };
  if (name.startsWith("magistral")) return { warning: ALWAYS };
  return /^(mistral-(large|tiny)|ministral|open-|codestral|pixtral)/.test(name) ? {} : { warning: UNSURE };
}
