import { schemaRefusal } from "./schema.ts";
import { argumentsText, each, events, firstOf, pieces, type Json, type Wire, type WireTurn } from "./wire.ts";

/** Differences between providers of OpenAI's chat completions. */
interface ChatRules {
  path: RegExp;
  /** The place of thoughts in an answer: a field of the message, or parts of its content. */
  thoughts: "reasoning_content" | "reasoning" | "parts";
  /** The allowed fields of a request. Absent: all fields are allowed. */
  fields?: readonly string[];
  check?: (body: Json) => string | undefined;
  callId?: Wire["callId"];
  /** The place of the usage in a stream. `last`: in the last piece. Default: in a separate piece, on request. */
  usage?: "always" | "x_groq" | "last";
}

/** OpenAI's chat completions: checks pairs of calls and results, names, schemas, and a provider's own rules. */
export function chatWire(rules: ChatRules): Wire {
  return {
    path: rules.path,
    contentType: "text/event-stream",
    streams: (body) => body.stream === true,
    refusal: (body) =>
      firstOf(
        () => unknownField(body, rules.fields),
        () => rules.check?.(body),
        () => each(body.tools ?? [], toolRefusal),
        () =>
          body.tools?.length > 128
            ? `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${body.tools.length} instead.`
            : undefined,
        () =>
          body.stream_options && !body.stream
            ? "The 'stream_options' parameter is only allowed when 'stream' is enabled."
            : undefined,
        () => orderRefusal(body.messages ?? [], rules),
      ),
    whole: (turn, body) => ({
      ...envelope(turn, body, "chat.completion"),
      choices: [{ index: 0, message: messageOf(turn, rules), finish_reason: reason(turn), logprobs: null }],
      usage: usageOf(turn),
      x_groq: rules.usage === "x_groq" ? { id: "req_1" } : undefined,
    }),
    streamed: (turn, body) => events(deltas(turn, body, rules), "data: [DONE]\n\n"),
    error: (status, text) => ({
      error: {
        message: text,
        type: status === 404 ? "not_found_error" : "invalid_request_error",
        code: null,
      },
    }),
    callId: rules.callId ?? ((at, index) => `call_${at}_${index}`),
  };
}

function unknownField(body: Json, fields: readonly string[] | undefined): string | undefined {
  const key = fields && Object.keys(body).find((one) => !fields.includes(one));
  return key === undefined ? undefined : `property '${key}' is unsupported`;
}

function toolRefusal({ type, function: tool }: Json, at: number): string | undefined {
  if (type !== "function" || !tool) return `Invalid value: 'tools[${at}].type'.`;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name ?? ""))
    return `Invalid 'tools[${at}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return tool.parameters === undefined ? undefined : schemaRefusal(tool.parameters, tool.name);
}

/** Checks that the next messages have exactly one result for each call of a message. */
function orderRefusal(messages: Json[], { thoughts }: ChatRules): string | undefined {
  if (messages.length === 0) return "Invalid 'messages': empty array.";
  let open: string[] = [];
  return (
    each(messages, (message, at) => {
      if (message.role === "tool") {
        if (!open.includes(message.tool_call_id))
          return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' (messages[${at}]).`;
        open = open.filter((id) => id !== message.tool_call_id);
        return undefined;
      }
      const refusal = unanswered(open);
      const calls: Json[] = message.tool_calls ?? [];
      open = calls.map(({ id }) => id);
      return (
        refusal ??
        each(calls, (call) => callRefusal(call, at)) ??
        contentRefusal(message, at, thoughts === "parts")
      );
    }) ?? unanswered(open)
  );
}

function unanswered(open: readonly string[]): string | undefined {
  if (open.length === 0) return undefined;
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`;
}

function callRefusal(call: Json, at: number): string | undefined {
  try {
    if (typeof call.function.arguments === "string" && JSON.parse(call.function.arguments)) return undefined;
  } catch {
    // Reported below.
  }
  return `Invalid type for 'messages[${at}].tool_calls': arguments must be a JSON string.`;
}

function contentRefusal(
  { role, content, tool_calls: calls = [] }: Json,
  at: number,
  takesThoughts: boolean,
): string | undefined {
  if (!["system", "developer", "user", "assistant"].includes(role))
    return `Invalid value: '${role}' (messages[${at}].role).`;
  if (content === undefined || content === null)
    return role === "assistant" && calls.length > 0 ? undefined : `messages[${at}].content is required.`;
  if (typeof content === "string") return undefined;
  const types = ["text", "image_url", "file", "refusal", ...(takesThoughts ? ["thinking"] : [])];
  const strange = content.find((part: Json) => !types.includes(part.type));
  return strange && `Invalid value: '${strange.type}' (messages[${at}].content).`;
}

function envelope({ at }: WireTurn, body: Json, object: string) {
  return { id: `chatcmpl-${at}`, object, created: 1_700_000_000, model: body.model };
}

function reason({ calls, cut }: WireTurn): string {
  if (cut === "said") return "length";
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageOf({ usage }: WireTurn) {
  const { input, output, cached, reasoning } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function wireCalls(turn: WireTurn) {
  return turn.calls.map(({ id, name }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: argumentsText(turn, index) },
  }));
}

function thinking(text: string, { thoughts }: ChatRules): Json {
  if (thoughts !== "parts") return { [thoughts]: text };
  return { content: [{ type: "thinking", thinking: [{ type: "text", text }] }] };
}

function messageOf(turn: WireTurn, rules: ChatRules): Json {
  const { thoughts, text, calls } = turn;
  const thought: Json = thoughts === "" ? {} : thinking(thoughts, rules);
  const content = thought.content
    ? [...thought.content, ...(text === "" ? [] : [{ type: "text", text }])]
    : text === "" && calls.length > 0
      ? null
      : text;
  return { role: "assistant", ...thought, content, ...(calls.length > 0 && { tool_calls: wireCalls(turn) }) };
}

function deltas(turn: WireTurn, body: Json, rules: ChatRules): Json[] {
  const front = envelope(turn, body, "chat.completion.chunk");
  const piece = (delta: Json, finish: string | null = null, more: Json = {}) => ({
    ...front,
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    ...more,
  });
  const groq = rules.usage === "x_groq" ? { x_groq: { id: "req_1", usage: usageOf(turn) } } : {};
  const isCounted = rules.usage === "always" || body.stream_options?.include_usage === true;
  return [
    piece({ role: "assistant", content: "" }),
    ...pieces(turn.thoughts).map((text) => piece(thinking(text, rules))),
    ...pieces(turn.text).map((content) => piece({ content })),
    ...(turn.calls.length > 0 ? [piece({ tool_calls: wireCalls(turn) })] : []),
    piece({}, reason(turn), rules.usage === "last" ? { usage: usageOf(turn) } : groq),
    ...(isCounted ? [{ ...front, choices: [], usage: usageOf(turn) }] : []),
  ];
}
