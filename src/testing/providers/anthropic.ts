import { argumentsText, each, events, firstOf, pieces, type Json, type Wire, type WireTurn } from "./wire.ts";

/** Anthropic's messages: results directly after their calls, thoughts with a signature, at most four cache breakpoints. */
export const anthropicWire: Wire = {
  path: /\/v1\/messages$/,
  contentType: "text/event-stream",
  streams: (body) => body.stream === true,
  hints: (body) => breakpoints(body) > 0,
  refusal: (body) =>
    firstOf(
      () => (Number.isInteger(body.max_tokens) ? undefined : "max_tokens: Field required"),
      () => each(body.tools ?? [], toolRefusal),
      () =>
        breakpoints(body) > 4
          ? `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints(body)}.`
          : undefined,
      () => thinkingRefusal(body),
      () => messagesRefusal(body.messages ?? [], body.thinking?.type === "enabled"),
    ),
  whole: (turn, body) => ({
    ...envelope(turn, body),
    content: blocks(turn),
    stop_reason: reason(turn),
    stop_sequence: null,
    usage: usageOf(turn),
  }),
  streamed: (turn, body) => {
    const { output_tokens: output, ...input } = usageOf(turn);
    return events([
      {
        type: "message_start",
        message: {
          ...envelope(turn, body),
          content: [],
          stop_reason: null,
          usage: { ...input, output_tokens: 1 },
        },
      },
      ...blocks(turn).flatMap((block, index) => streamedBlock(block, index, turn)),
      {
        type: "message_delta",
        delta: { stop_reason: reason(turn), stop_sequence: null },
        usage: { output_tokens: output },
      },
      { type: "message_stop" },
    ]);
  },
  error: (status, message) => ({
    type: "error",
    error: { type: status === 404 ? "not_found_error" : "invalid_request_error", message },
    request_id: "req_1",
  }),
  callId: (at, index) => `toolu_${at}_${index}`,
};

function toolRefusal({ name, input_schema: schema, type = "custom" }: Json, at: number): string | undefined {
  if (type !== "custom") return undefined;
  const where = `tools.${at}.custom`;
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name ?? ""))
    return `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  if (schema?.type !== "object") return `${where}.input_schema.type: Field required`;
  const union = ["oneOf", "allOf", "anyOf"].find((key) => schema[key] !== undefined);
  return (
    union && `${where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
  );
}

/** Counts cache breakpoints on tools, system prompt and blocks. One at the top level applies to the last block. */
function breakpoints({ tools = [], system, messages = [], cache_control: top }: Json): number {
  const parts = [
    ...tools,
    ...(Array.isArray(system) ? system : []),
    ...messages.flatMap(({ content }: Json) => (Array.isArray(content) ? content : [])),
  ];
  return parts.filter((part) => part.cache_control).length + (top ? 1 : 0);
}

function thinkingRefusal({ thinking, temperature, top_k, max_tokens: most }: Json): string | undefined {
  if (thinking === undefined || thinking.type === "disabled") return undefined;
  if (temperature !== undefined && temperature !== 1)
    return "`temperature` may only be set to 1 when thinking is enabled.";
  if (top_k !== undefined) return "`top_k` must be unset when thinking is enabled.";
  if (thinking.type === "adaptive") return undefined;
  if (!(thinking.budget_tokens >= 1024))
    return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  return thinking.budget_tokens >= most
    ? "`max_tokens` must be greater than `thinking.budget_tokens`."
    : undefined;
}

const listOf = ({ content }: Json): Json[] =>
  Array.isArray(content) ? content : [{ type: "text", text: content }];

function messagesRefusal(messages: Json[], thinks: boolean): string | undefined {
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  return each(messages, (message, at) => {
    const where = `messages.${at}`;
    if (!["user", "assistant"].includes(message.role))
      return `${where}: use the top-level 'system' parameter for the initial system prompt`;
    const content = listOf(message);
    if (content.length === 0) return `${where}: all messages must have non-empty content`;
    const next = messages[at + 1];
    const callIds: string[] = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const answers = next ? listOf(next).filter(({ type }) => type === "tool_result") : [];
    const open = callIds.filter((id) => !answers.some(({ tool_use_id }) => tool_use_id === id));
    if (open.length > 0)
      return `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const before = at === 0 ? [] : listOf(messages[at - 1]).map(({ id }) => id);
    if (
      thinks &&
      callIds.length > 0 &&
      !["thinking", "redacted_thinking"].includes(content[0].type) &&
      beginsTurn(messages, at)
    )
      return `${where}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${content[0].type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
    return each(content, (block, index) =>
      blockRefusal(block, { where: `${where}.content.${index}`, before, content, index }),
    );
  });
}

/** Whether a message is the first answer to the user's last message. */
function beginsTurn(messages: Json[], at: number): boolean {
  const isWords = (message: Json): boolean =>
    message.role === "user" && listOf(message).every(({ type }) => type !== "tool_result");
  return at === messages.findLastIndex(isWords) + 1;
}

function blockRefusal(
  block: Json,
  { where, before, content, index }: { where: string; before: string[]; content: Json[]; index: number },
): string | undefined {
  switch (block.type) {
    case "text":
      return block.text?.trim() ? undefined : `${where}: text content blocks must be non-empty`;
    case "tool_result":
      if (content.slice(0, index).some(({ type }) => type !== "tool_result"))
        return `${where}: \`tool_result\` blocks must come first in the content`;
      return before.includes(block.tool_use_id)
        ? undefined
        : `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    case "thinking":
      return typeof block.signature === "string" ? undefined : `${where}.thinking.signature: Field required`;
    case "tool_use":
      return typeof block.input === "object"
        ? undefined
        : `${where}.tool_use.input: Input should be a valid dictionary`;
    case "image":
    case "document":
    case "redacted_thinking":
      return undefined;
    default:
      return `${where}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`;
  }
}

function envelope({ at }: WireTurn, body: Json) {
  return { id: `msg_${at}`, type: "message", role: "assistant", model: body.model };
}

function reason({ calls, cut }: WireTurn): string {
  if (cut === "said") return "max_tokens";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ usage: { input, cached, output } }: WireTurn) {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function blocks({ thoughts, text, calls, at }: WireTurn): Json[] {
  return [
    ...(thoughts === "" ? [] : [{ type: "thinking", thinking: thoughts, signature: `signed-${at}` }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
  ];
}

function callAt({ id }: Json, { calls }: WireTurn): number {
  return calls.findIndex((call) => call.id === id);
}

function streamedBlock(block: Json, index: number, turn: WireTurn): Json[] {
  const empty = { ...block, ...("text" in block && { text: "" }), ...("input" in block && { input: {} }) };
  if (block.type === "thinking") Object.assign(empty, { thinking: "", signature: "" });
  const deltas =
    block.type === "text"
      ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
      : block.type === "tool_use"
        ? [{ type: "input_json_delta", partial_json: argumentsText(turn, callAt(block, turn)) }]
        : [
            ...pieces(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature: block.signature },
          ];
  return [
    { type: "content_block_start", index, content_block: empty },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}
