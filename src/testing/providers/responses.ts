import { schemaRefusal } from "./schema.ts";
import { argumentsText, each, events, firstOf, type Json, type Wire, type WireTurn } from "./wire.ts";

/** OpenAI's responses: every call has an output, and a reasoning item is followed by its result. */
export const responsesWire: Wire = {
  path: /\/responses$/,
  contentType: "text/event-stream",
  streams: (body) => body.stream === true,
  refusal: (body) =>
    firstOf(
      () => each(body.tools ?? [], toolRefusal),
      () => (Array.isArray(body.input) ? inputRefusal(body.input, body.store !== false) : undefined),
      () =>
        ["temperature", "top_p"].some((key) => body[key] !== undefined) && /^(o\d|gpt-5)/.test(body.model)
          ? "Unsupported parameter: 'temperature' is not supported with this model."
          : undefined,
    ),
  whole: response,
  streamed: (turn, body) => {
    const completed = response(turn, body);
    const pieces = completed.output.flatMap((item: Json, output_index: number) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, content: [], summary: [], arguments: "" },
      },
      ...inner(item, output_index),
      { type: "response.output_item.done", output_index, item },
    ]);
    return events([
      { type: "response.created", response: { ...completed, status: "in_progress", output: [] } },
      ...pieces,
      { type: `response.${completed.status}`, response: completed },
    ]);
  },
  error: (status, message) => ({
    error: {
      message,
      type: "invalid_request_error",
      param: null,
      code: status === 404 ? "model_not_found" : null,
    },
  }),
  callId: (at, index) => `call_${at}_${index}`,
};

function toolRefusal(tool: Json, at: number): string | undefined {
  if (tool.type !== "function") return undefined;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name ?? ""))
    return `Invalid 'tools[${at}].name': string does not match pattern.`;
  return schemaRefusal(tool.parameters, tool.name);
}

function inputRefusal(input: Json[], isStored: boolean): string | undefined {
  const calls = input.filter(({ type }) => type === "function_call").map((item) => item.call_id);
  const answers = input.filter(({ type }) => type === "function_call_output").map((item) => item.call_id);
  const open = calls.find((id) => !answers.includes(id));
  if (open !== undefined) return `No tool output found for function call ${open}.`;
  const stray = answers.find((id) => !calls.includes(id));
  if (stray !== undefined) return `No tool call found for function call output with call_id ${stray}.`;
  return each(input, (item, at) => {
    if (item.type !== "reasoning") return undefined;
    const next = input[at + 1];
    if (next === undefined || next.role === "user" || next.type === "function_call_output")
      return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
    if (!isStored && typeof item.encrypted_content !== "string")
      return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
    return undefined;
  });
}

function response(turn: WireTurn, body: Json): Json {
  const { thoughts, text, calls, at, usage, cut } = turn;
  return {
    id: `resp_${at}`,
    object: "response",
    created_at: 1_700_000_000,
    status: cut === "said" ? "incomplete" : "completed",
    model: body.model,
    error: null,
    incomplete_details: cut === "said" ? { reason: "max_output_tokens" } : null,
    output: [
      ...(thoughts === ""
        ? []
        : [
            {
              type: "reasoning",
              id: `rs_${at}`,
              summary: [{ type: "summary_text", text: thoughts }],
              encrypted_content: `sealed-${at}`,
            },
          ]),
      ...(text === ""
        ? []
        : [
            {
              type: "message",
              id: `msg_${at}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text, annotations: [] }],
            },
          ]),
      ...calls.map(({ id, name }, index) => ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: argumentsText(turn, index),
        status: "completed",
      })),
    ],
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}

function inner(item: Json, output_index: number): Json[] {
  const at = { item_id: item.id, output_index };
  if (item.type === "message")
    return [{ type: "response.output_text.delta", ...at, content_index: 0, delta: item.content[0].text }];
  if (item.type === "function_call")
    return [
      { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
      { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
    ];
  const part = { ...at, summary_index: 0 };
  return [
    { type: "response.reasoning_summary_part.added", ...part, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", ...part, delta: item.summary[0].text },
  ];
}
