import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { Calls } from "./calls.ts";

const head = { version: 1, at: 0, thread: "t", owner: "main", call: "c" } as const;
const text = (said: string) => ({ type: "content", content: { type: "text", text: said } });

it("an editor shows a command's output while it runs, and then its result", () => {
  const sent: SessionUpdate[] = [];
  const calls = new Calls("/project", (update) => void sent.push(update));
  const command = { ...head, name: "execute", about: "npm test", args: { command: "npm test" } };
  calls.start({ ...command, type: "tool-start" });
  calls.showOutput({ ...head, type: "tool-output", text: "one" });
  calls.end({ ...command, ok: true, result: "one", output: "one\ntwo" });
  calls.showOutput({ ...head, type: "tool-output", text: "late" });
  expect(sent.slice(1)).toMatchObject([
    { sessionUpdate: "tool_call_update", toolCallId: "c", content: [text("```\none\n```")] },
    { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed" },
  ]);
});
