import { schemaRefusal } from "./schema.ts";
import { each, firstOf, pieces, type Json, type Wire, type WireTurn } from "./wire.ts";

/** The context window of the mock's models in `ollama show`. */
const OLLAMA_WINDOW = 40_960;

/** Ollama: lines of JSON, arguments as objects, and `think` only for models that support it. */
export const ollamaWire: Wire = {
  path: /\/api\/chat$/,
  contentType: "application/x-ndjson",
  // Streaming is its default.
  streams: (body) => body.stream !== false,
  refusal: (body) =>
    firstOf(
      () =>
        body.think && !/qwen3|deepseek-r1|gpt-oss|magistral/.test(body.model)
          ? `"${body.model}" does not support thinking`
          : undefined,
      () => each(body.tools ?? [], ({ function: tool }: Json) => schemaRefusal(tool?.parameters, tool?.name)),
      () => each(body.messages ?? [], messageRefusal),
    ),
  whole: (turn, body) => ({ ...line(body, messageOf(turn, turn.text, turn.thoughts)), ...end(turn) }),
  streamed: (turn, body) => {
    const lines = [
      ...pieces(turn.thoughts).map((piece) =>
        line(body, { role: "assistant", content: "", thinking: piece }),
      ),
      ...pieces(turn.text).map((piece) => line(body, { role: "assistant", content: piece })),
      ...(turn.calls.length > 0 ? [line(body, messageOf(turn, "", ""))] : []),
      { ...line(body, { role: "assistant", content: "" }), ...end(turn) },
    ];
    return lines.map((one) => `${JSON.stringify(one)}\n`).join("");
  },
  error: (_, message) => ({ error: message }),
  other: {
    "/api/show": () => ({
      capabilities: ["completion", "tools", "thinking"],
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": OLLAMA_WINDOW },
    }),
  },
};

function messageRefusal({ role, content, tool_calls: calls = [] }: Json): string | undefined {
  const front = "json: cannot unmarshal";
  if (!["system", "user", "assistant", "tool"].includes(role)) return `invalid role: ${role}`;
  if (typeof content !== "string")
    return `${front} array into Go struct field ChatRequest.messages.content of type string`;
  return each(calls as Json[], (call) =>
    typeof call.function?.arguments === "object"
      ? undefined
      : `${front} string into Go struct field .messages.tool_calls.function.arguments`,
  );
}

function line(body: Json, message: Json) {
  return { model: body.model, created_at: "2026-01-01T00:00:00Z", message, done: false };
}

function messageOf({ calls }: WireTurn, content: string, thinking: string): Json {
  return {
    role: "assistant",
    content,
    thinking: thinking !== "" ? thinking : undefined,
    tool_calls:
      calls.length > 0 ? calls.map(({ name, args }) => ({ function: { name, arguments: args } })) : undefined,
  };
}

function end({ usage, cut }: WireTurn) {
  const done_reason = cut === "said" ? "length" : "stop";
  return { done: true, done_reason, prompt_eval_count: usage.input, eval_count: usage.output };
}
