import { ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { copyOf } from "./message-copies.ts";

it("a result with other content keeps everything else", () => {
  const rest = {
    tool_call_id: "c",
    name: "look",
    id: "m",
    status: "error" as const,
    artifact: { rows: 3 },
    metadata: { page: 1 },
    additional_kwargs: { seen: true },
    response_metadata: { source: "web" },
  };
  const message = new ToolMessage({ ...rest, content: "long" });
  expect(copyOf(message, { content: "short" })).toEqual(new ToolMessage({ ...rest, content: "short" }));
  expect(copyOf(message, { content: [{ type: "text", text: "a" }] }).content).toEqual([
    { type: "text", text: "a" },
  ]);
});
