import { expect, it } from "vitest";
import { usedTokens } from "./index.ts";

const counted = { inputTokens: 11, outputTokens: 7, cachedTokens: 0 };

it.each([
  ["LangChain's words", { usage_metadata: { input_tokens: 11, output_tokens: 7, total_tokens: 18 } }],
  [
    "Groq's stream",
    { response_metadata: { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } } },
  ],
  [
    "Groq's own field",
    { response_metadata: { x_groq: { usage: { prompt_tokens: 11, completion_tokens: 7 } } } },
  ],
  ["a client's own count", { response_metadata: { tokenUsage: { promptTokens: 11, completionTokens: 7 } } }],
  ["Anthropic's words", { response_metadata: { usage: { input_tokens: 11, output_tokens: 7 } } }],
  [
    "a count of zero beside one",
    {
      usage_metadata: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
      response_metadata: { usage: { prompt_tokens: 11, completion_tokens: 7 } },
    },
  ],
])("usage is read in %s", (_words, message) => {
  expect(usedTokens(message)).toEqual(counted);
});

it("thinking that only the total tells of is output", () => {
  const usage_metadata = { input_tokens: 11, output_tokens: 7, total_tokens: 1018 };
  expect(usedTokens({ usage_metadata })).toEqual({ ...counted, outputTokens: 1007 });
});

it("an answer that tells nothing used nothing", () => {
  expect(usedTokens({})).toEqual({ inputTokens: 0, outputTokens: 0, cachedTokens: 0 });
});
