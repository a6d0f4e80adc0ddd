import { expect, it } from "vitest";
import type { RunEvent } from "../events/events.ts";
import { transcript } from "./transcript.ts";

const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 };

it("a transcript has a sub-agent's report once, titled, with the verdict at its end", () => {
  const head = { version: 1 as const, at: 0 };
  const call = { name: "task", call: "c1", about: "look", ok: true };
  const output = "Found 3 leaks.\n[Done: without evidence: look.]";
  const events = [
    { ...head, type: "model-end", owner: "main/Roof survey:c1", text: "Found 3 leaks.", usage },
    { ...head, type: "tool-end", owner: "main", ...call, result: output, output },
  ] as unknown as RunEvent[];
  const text = transcript(events);
  expect(text.split("Found 3 leaks.")).toHaveLength(2);
  expect(text).toContain("## Sub-agent Roof survey");
  expect(text).toContain("[Done: without evidence: look.]");
});
