import { chatWire } from "./chat.ts";
import { each, type Json, type Wire } from "./wire.ts";

const CHAT = /\/chat\/completions$/;

/** OpenAI's chat completions, with the rules of its reasoning models. */
export const openaiWire: Wire = chatWire({
  path: CHAT,
  thoughts: "reasoning_content",
  check: (body) => {
    if (!/^(o\d|gpt-5)/.test(body.model)) return undefined;
    if (body.max_tokens !== undefined)
      return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    if (body.temperature !== undefined && body.temperature !== 1)
      return "Unsupported value: 'temperature' does not support other values with this model. Only the default (1) value is supported.";
    if (/^gpt-5\.[2-9]/.test(body.model) && body.tools && (body.reasoning_effort ?? "none") !== "none")
      return `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. Please use /v1/responses instead.`;
    return undefined;
  },
});

/** Groq: strict about the fields of requests and messages. */
export const groqWire: Wire = chatWire({
  path: CHAT,
  thoughts: "reasoning",
  usage: "x_groq",
  fields:
    "messages model stream stream_options tools tool_choice parallel_tool_calls temperature top_p stop seed max_tokens max_completion_tokens response_format reasoning_effort reasoning_format include_reasoning service_tier user frequency_penalty presence_penalty n disable_tool_validation".split(
      " ",
    ),
  check: (body) =>
    each(body.messages as Json[], (message, at) => {
      const refuse = (reason: string): string =>
        `'messages.${at}' : for 'role:${message.role}' the following must be satisfied[('messages.${at}${reason})]`;
      const key = ["reasoning_content", "name", "function_call"].find((one) => message[one] !== undefined);
      if (key !== undefined) return refuse(`' : property '${key}' is unsupported`);
      if (message.role === "system" && typeof message.content !== "string")
        return refuse(".content' : value must be a string");
      return undefined;
    }),
});

/** DeepSeek: a thinking model requires the thoughts of its earlier calls in all later requests. */
export const deepseekWire: Wire = chatWire({
  path: CHAT,
  thoughts: "reasoning_content",
  check: (body) => {
    const isThinking =
      (body.thinking?.type ?? (body.model === "deepseek-chat" ? "disabled" : "enabled")) === "enabled";
    if (!isThinking) return undefined;
    return each(body.messages as Json[], ({ role, tool_calls: calls = [], reasoning_content: thoughts }) =>
      role === "assistant" && calls.length > 0 && typeof thoughts !== "string"
        ? "The `reasoning_content` in the thinking mode must be passed back to the API."
        : undefined,
    );
  },
});

/** OpenRouter and similar gateways: model names have an author, and thoughts are in `reasoning`. */
export const openrouterWire: Wire = chatWire({
  path: CHAT,
  thoughts: "reasoning",
  usage: "always",
  check: ({ model }) => (/^[^/]+\/[^/]+$/.test(model) ? undefined : `${model} is not a valid model ID`),
});

/** Mistral: call ids of nine letters and digits, no user message directly after a result, thoughts as content parts. */
export const mistralWire: Wire = chatWire({
  path: CHAT,
  thoughts: "parts",
  usage: "last",
  callId: (at, index) => `c${String(at).padStart(4, "0")}${String(index).padStart(4, "0")}`,
  fields:
    "model messages stream tools tool_choice parallel_tool_calls temperature top_p max_tokens stop random_seed response_format presence_penalty frequency_penalty n prediction prompt_mode safe_prompt metadata reasoning_effort guardrails".split(
      " ",
    ),
  check: (body) => {
    const messages = body.messages as Json[];
    const roles = messages.map(({ role }) => role as string);
    return (
      each(messages, (message, at) => {
        const ids = [
          ...(message.tool_calls ?? []).map(({ id }: Json) => id),
          ...(message.role === "tool" ? [message.tool_call_id] : []),
        ];
        const bad = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
        if (bad !== undefined)
          return `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`;
        if (message.role === "user" && roles[at - 1] === "tool")
          return "Unexpected role 'user' after role 'tool'";
        if (message.role === "system" && ["assistant", "tool"].includes(roles[at - 1] ?? ""))
          return `Unexpected role 'system' after role '${roles[at - 1]}'`;
        return undefined;
      }) ??
      (["user", "tool"].includes(roles.at(-1)!)
        ? undefined
        : `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${roles.at(-1)}`)
    );
  },
});
