import { describe, expect, it } from "vitest";
import { StreamEnds } from "./stream-ends.ts";

const CHAT = "http://localhost/v1/chat/completions";
const STREAM = "text/event-stream; charset=utf-8";
const HALF = `data: {"choices":[{"delta":{"content":"\\"finish_reason\\":\\"stop\\""},"finish_reason":null}]}\n\n`;
const FINISH = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n`;

/** Reads a stream that comes byte by byte; `wasLast`: nobody would ask again. */
async function read(
  text: string,
  { ends = new StreamEnds(), url = CHAT, type = STREAM, wasLast = false } = {},
): Promise<string> {
  const body = ReadableStream.from(Array.from(text, (letter) => new TextEncoder().encode(letter)));
  const response = new Response(body, { headers: { "content-type": type } });
  return ends.watched(url, response, () => wasLast).text();
}

describe("a stream that ends", () => {
  it.each([
    ["with a reason", CHAT, HALF + FINISH],
    ["with a mark alone", CHAT, `${HALF}data: [DONE]\n\n`],
    ["with an error", CHAT, `${HALF}data: {"error":{"message":"No."}}\n\n`],
    ["with an address that goes on", `${CHAT}?api-version=1`, HALF + FINISH],
    ["as Anthropic ends it", "http://localhost/v1/messages", `data: {"type":"message_stop"}\n\n`],
    ["as OpenAI's newer protocol ends it", "http://localhost/responses", `{"type":"response.completed"}`],
  ])("%s is whole", async (_, url, text) => {
    expect(await read(text, { url })).toBe(text);
  });

  it.each([
    ["OpenAI", CHAT, HALF],
    ["OpenAI's newer protocol", "http://localhost/responses", `{"type":"response.created","error":null}`],
    ["Anthropic", "http://localhost/v1/messages", `{"type":"message_start","stop_reason":null}`],
  ])("without a mark is treated as broken off: %s", async (_, url, text) => {
    await expect(read(text, { url })).rejects.toThrow("The stream ended before the answer did.");
  });

  it.each([
    ["something else than an answer", "http://localhost/v1/models", STREAM],
    ["something else than a stream", CHAT, "application/json"],
  ])("is not watched in %s", async (_, url, type) => {
    expect(await read("{}", { url, type })).toBe("{}");
  });
});

describe("a server that never marks an end", () => {
  it("is believed on the last attempt, and from then on", async () => {
    const ends = new StreamEnds();
    await expect(read(HALF, { ends })).rejects.toThrow("ended before");
    expect(await read(HALF, { ends, wasLast: true })).toBe(HALF);
    expect(await read(HALF, { ends })).toBe(HALF);
  });

  it("is not a server that has marked the end of another stream", async () => {
    const ends = new StreamEnds();
    await read(HALF, { ends, wasLast: true });
    await read(FINISH, { ends });
    await expect(read(HALF, { ends, wasLast: true })).rejects.toThrow("ended before");
  });
});
