import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { sendsThoughts } from "../clients/deepseek.ts";
import { fieldsOf } from "../secrets/index.ts";

/** The thinking effort of a model. */
export const EFFORTS = ["off", "low", "medium", "high"] as const;
export type EffortSetting = (typeof EFFORTS)[number];
export type Effort = Exclude<EffortSetting, "off">;

interface Ask {
  on: boolean;
  effort: Effort | undefined;
}

/** Changes of a client's fields, and a note. Without fields nothing can be changed. */
interface Told {
  fields?: object;
  /** `{model}` stands for its name. */
  warning?: string;
}

/** Sets thinking for each client of LangChain, by its class. A model's name tells which values it takes. */
export const CLIENTS: Record<string, (model: BaseChatModel, ask: Ask) => Told> = {
  ChatOpenAI: tellOpenAI,
  ChatAnthropic: tellAnthropic,
  ChatGoogleGenerativeAI: tellGoogle,
  ChatOllama: tellOllama,
  ChatGroq: tellGroq,
  ChatMistralAI: tellMistral,
};

const NEVER = "{model} is not known to think";
const ALWAYS = "{model} cannot be kept from thinking";
/** The note for an unknown model. */
export const UNSURE = "{model} may think, and it is not known how to keep it from that";
/** Tokens for the providers that want to be told a number. */
const BUDGET: Record<Effort, number> = { low: 2048, medium: 8192, high: 24_576 };
const ANTHROPIC_LEAST = 1024;

/** The efforts of OpenAI's reasoning models, the first pattern that fits. `none` and `minimal` are as good as off. */
const OPENAI_EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^o1-(mini|preview)|^(o\d|gpt-5).*-(chat|deep-research)/, []],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5\.\d+-pro/, ["medium", "high"]],
  [/^(o\d|gpt-5.*codex|gpt-oss)/, ["low", "medium", "high"]],
  [/^gpt-5\.\d/, ["none", "low", "medium", "high"]],
  [/^gpt-5/, ["minimal", "low", "medium", "high"]],
];

function tellOpenAI(model: BaseChatModel, ask: Ask): Told {
  const { model: name } = model as unknown as { model: string };
  const { reasoning, modelKwargs, useResponsesApi } = fieldsOf(model) as {
    reasoning?: object;
    modelKwargs?: object;
    useResponsesApi?: boolean;
  };
  if (/^deepseek-(chat|reasoner|flash|pro|v\d)/.test(name)) {
    // Its API wants the thoughts of earlier turns back, and LangChain's client alone does not send them.
    if (ask.on && !sendsThoughts(model))
      return { warning: "{model} cannot think and call tools through this client" };
    const thinking = { type: ask.on ? "enabled" : "disabled" };
    const effort = ask.on && ask.effort ? { reasoning_effort: ask.effort } : {};
    return { fields: { modelKwargs: { ...modelKwargs, thinking, ...effort } } };
  }
  const own = name.replace(/^.*\//, "");
  const efforts = OPENAI_EFFORTS.find(([pattern]) => pattern.test(own))?.[1] ?? [];
  if (efforts.length === 0) return unknown(ask, /^(gpt-[34]|chatgpt-4|gpt-5.*-chat)/.test(own));
  const effort = effortAmong(efforts, ask);
  if (effort === undefined) {
    return { warning: ask.on ? `{model} has no effort "${ask.effort}", only ${efforts.join(", ")}` : ALWAYS };
  }
  // LangChain keeps `reasoning` from all models but those whose names it knows.
  if (!/^(o\d|gpt-5)/.test(name)) {
    const sent = useResponsesApi ? { reasoning: { effort } } : { reasoning_effort: effort };
    return { fields: { modelKwargs: { ...modelKwargs, ...sent } } };
  }
  const fields = { reasoning: { ...reasoning, effort } };
  // OpenAI's chat API refuses tools beside the effort of a newer model.
  if (!ask.on || !/^gpt-5\.([2-9]|\d\d)/.test(name)) return { fields };
  if (useResponsesApi === false)
    return { warning: "{model} can think and call tools only over OpenAI's responses API" };
  return { fields: { ...fields, useResponsesApi: true } };
}

/** A model that has no setting. Who wants no thinking has what he wants where it is known that there is none. */
function unknown({ on }: Ask, isQuiet: boolean): Told {
  if (on) return { warning: NEVER };
  return isQuiet ? {} : { warning: UNSURE };
}

function effortAmong(efforts: readonly string[], { on, effort }: Ask): string | undefined {
  if (!on) return efforts.find((one) => one === "none" || one === "minimal");
  if (effort !== undefined) return efforts.find((one) => one === effort);
  return efforts.find((one) => one === "medium") ?? efforts.at(-1);
}

function tellAnthropic(model: BaseChatModel, { on, effort }: Ask): Told {
  const { model: name, maxTokens } = model as unknown as { model: string; maxTokens: number };
  const [, major, minor = "0"] = /^claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(name) ?? [];
  // Other servers speak this protocol too, in the form that is understood everywhere.
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
  const told = (fields: object): Told => ({ fields: { ...unsampled, ...fields }, ...(isSampled && warning) });
  if (isMythical || (version !== undefined && version >= 406)) {
    const config = effort === undefined ? {} : { outputConfig: { ...outputConfig, effort } };
    return told({ thinking: { type: "adaptive" }, ...config });
  }
  // The budget is a part of `max_tokens`, and the answer needs some of it.
  const budget = Math.min(BUDGET[effort ?? "medium"], Math.floor(maxTokens * 0.75));
  if (budget < ANTHROPIC_LEAST) return { warning: `maxTokens ${maxTokens} leaves {model} no room to think` };
  return told({ thinking: { type: "enabled", budget_tokens: budget } });
}

function tellGoogle(model: BaseChatModel, ask: Ask): Told {
  const { on, effort = "medium" } = ask;
  const { model: name } = model as unknown as { model: string };
  const config = fieldsOf(model)["thinkingConfig"] as { includeThoughts?: boolean } | undefined;
  const shown = config?.includeThoughts === undefined ? {} : { includeThoughts: config.includeThoughts };
  const told = (thinking: object): Told => ({ fields: { thinkingConfig: { ...shown, ...thinking } } });
  if (!/^gemini-(2\.5|[3-9]|[a-z-]*latest)/.test(name)) {
    return unknown(ask, /^gemini-(1|2\.0)(?!.*thinking)/.test(name));
  }
  // Of the newer ones and of what `latest` may mean, none can be switched off for certain.
  if (!on) return name.startsWith("gemini-2.5-flash") ? told({ thinkingBudget: 0 }) : { warning: ALWAYS };
  // Budgets are understood by both generations, levels by the newer one alone.
  if (!/^gemini-[3-9]/.test(name)) return told({ thinkingBudget: BUDGET[effort] });
  const level = name.startsWith("gemini-3-pro") && effort === "medium" ? "high" : effort;
  return told({ thinkingLevel: level.toUpperCase() });
}

/** The families of Ollama's library that think. Asked of any other, its server refuses the request. */
const OLLAMA_THINKS = /(^|\/)(qwen3(?!-coder|.*instruct)|deepseek-(r1|v3\.[1-9])|magistral|[\w.-]*thinking)/;

function tellOllama(model: BaseChatModel, { on, effort }: Ask): Told {
  const { model: name } = model as unknown as { model: string };
  if (/(^|\/)gpt-oss/.test(name)) return on ? { fields: { think: effort ?? "medium" } } : { warning: ALWAYS };
  // What it takes of any model is not to think.
  if (!on) return { fields: { think: false } };
  if (!OLLAMA_THINKS.test(name)) return { warning: NEVER };
  const warning = { warning: "{model} has no levels of thinking; reasoning_effort only switches it on" };
  return { fields: { think: true }, ...(effort !== undefined && warning) };
}

function tellGroq(model: BaseChatModel, ask: Ask): Told {
  const { on, effort } = ask;
  const { model: name } = model as unknown as { model: string };
  if (/gpt-oss/.test(name)) {
    return on ? { fields: { reasoningEffort: effort ?? "medium" } } : { warning: ALWAYS };
  }
  if (/qwen-?3/.test(name)) return { fields: { reasoningEffort: on ? "default" : "none" } };
  return unknown(ask, /^(meta-llama\/)?(llama|gemma|mixtral)/.test(name));
}

function tellMistral(model: BaseChatModel, { on }: Ask): Told {
  const { model: name } = model as unknown as { model: string };
  if (on) return { warning: "ChatMistralAI has no setting for thinking" };
  if (name.startsWith("magistral")) return { warning: ALWAYS };
  return /^(mistral-(large|tiny)|ministral|open-|codestral|pixtral)/.test(name) ? {} : { warning: UNSURE };
}
