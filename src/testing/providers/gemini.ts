import { geminiRefusal } from "./schema.ts";
import { each, events, firstOf, pieces, type Json, type Wire, type WireTurn } from "./wire.ts";

/** Gemini: all results of a turn in one content, its own schema format, signed calls from the third generation on. */
export const geminiWire: Wire = {
  path: /:(generateContent|streamGenerateContent)$/,
  contentType: "text/event-stream",
  streams: (_, path) => path.includes(":streamGenerateContent"),
  refusal: (body, path) =>
    firstOf(
      () =>
        each(body.tools ?? [], ({ functionDeclarations: list = [] }: Json, tool) =>
          each(list as Json[], (one, at) =>
            functionRefusal(one, `tools[${tool}].function_declarations[${at}]`),
          ),
        ),
      () => thinkingRefusal(body.generationConfig?.thinkingConfig, path),
      () => contentsRefusal(body.contents ?? [], /gemini-[3-9]/.test(path)),
    ),
  whole: (turn) => answer(turn, partsOf(turn), true),
  streamed: (turn) => {
    const { thoughts, text } = turn;
    const calls = partsOf({ ...turn, thoughts: "", text: "" });
    const all = [
      ...pieces(thoughts).map((piece) => [{ text: piece, thought: true }]),
      ...pieces(text).map((piece) => [{ text: piece }]),
      ...(calls.length > 0 ? [calls] : []),
    ];
    return events(all.map((parts, at) => answer(turn, parts, at === all.length - 1)));
  },
  error: (code, message) => ({
    error: { code, message, status: code === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT" },
  }),
};

function functionRefusal({ name, parameters }: Json, path: string): string | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name ?? ""))
    return `Invalid function name at ${path}. Must start with a letter or an underscore, and be at most 64 characters.`;
  return parameters === undefined ? undefined : geminiRefusal(parameters, `${path}.parameters`);
}

function thinkingRefusal(config: Json, path: string): string | undefined {
  if (config === undefined) return undefined;
  if (config.thinkingLevel !== undefined && config.thinkingBudget !== undefined)
    return "You can only set only one of thinking budget and thinking level.";
  return config.thinkingLevel !== undefined && !/gemini-[3-9]/.test(path)
    ? "Thinking level is not supported for this model."
    : undefined;
}

function contentsRefusal(contents: Json[], isSigned: boolean): string | undefined {
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  const callsIn = ({ parts = [] }: Json): Json[] => parts.filter((part: Json) => part.functionCall);
  const resultsIn = ({ parts = [] }: Json): Json[] => parts.filter((part: Json) => part.functionResponse);
  return each(contents, (content, at) => {
    if (!["user", "model", "function"].includes(content.role))
      return `Please use a valid role: user, model. (contents[${at}])`;
    if (!content.parts?.length)
      return `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`;
    const before = contents[at - 1];
    const calls = callsIn(content);
    if (calls.length > 0 && before?.role === "model")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    const next = contents[at + 1];
    if (calls.length > 0 && next && resultsIn(next).length !== calls.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    if (resultsIn(content).length > 0 && (before === undefined || callsIn(before).length === 0))
      return "Please ensure that function response turn comes immediately after a function call turn.";
    if (calls.length > 0 && isSigned && calls[0].thoughtSignature === undefined && isCurrent(contents, at))
      return `Function call is missing a thought_signature in functionCall parts. Function call \`default_api:${calls[0].functionCall.name}\`, position ${at}.`;
    return undefined;
  });
}

/** Whether no text of the user follows. */
function isCurrent(contents: Json[], at: number): boolean {
  return !contents
    .slice(at + 1)
    .some(({ role, parts }) => role === "user" && parts.every((part: Json) => part.text));
}

function partsOf({ thoughts, text, calls, at }: WireTurn): Json[] {
  return [
    ...(thoughts === "" ? [] : [{ text: thoughts, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ name, args }, index) => ({
      functionCall: { name, args },
      thoughtSignature: index === 0 ? `signed-${at}` : undefined,
    })),
  ];
}

function answer({ usage, cut }: WireTurn, parts: Json[], isLast: boolean): Json {
  const { input, cached, output, reasoning } = usage;
  return {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts },
        finishReason: isLast ? (cut === "said" ? "MAX_TOKENS" : "STOP") : undefined,
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output,
    },
    modelVersion: "gemini",
  };
}
