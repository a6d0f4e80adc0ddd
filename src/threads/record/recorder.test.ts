import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { GraphInterrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { COMMAND_OUTPUT } from "../../middleware/files/command-output.ts";
import type { RunEventBody } from "../events/events.ts";
import { Recorder } from "./recorder.ts";

/** A recorder with a tool that has just started, and what it has said since. */
function started(args: object = {}) {
  const controller = new AbortController();
  const events: RunEventBody[] = [];
  const recorder = new Recorder((event) => void events.push(event), controller.signal);
  const tool = { lc: 1, type: "not_implemented" as const, id: ["fetch"] };
  recorder.handleToolStart(tool, JSON.stringify(args), "run-1");
  return { controller, recorder, events };
}

const aborted = (): Error => new DOMException("This operation was aborted", "AbortError");

it("a command stopped together with its run is recorded as failed", () => {
  const controller = new AbortController();
  const events: RunEventBody[] = [];
  const recorder = new Recorder((event) => void events.push(event), controller.signal);
  const tool = { lc: 1, type: "not_implemented" as const, id: ["execute"] };
  for (const id of ["run-1", "run-2"]) recorder.handleToolStart(tool, `{"command":"sleep 9"}`, id);
  controller.abort();
  recorder.handleToolError(aborted(), "run-1");
  recorder.finish();
  recorder.handleToolError(aborted(), "run-2");
  expect(events.slice(2)).toMatchObject(
    ["run-1", "run-2"].map((call) => ({
      type: "tool-end",
      call,
      ok: false,
      result: "Stopped.",
      exitCode: null,
    })),
  );
});

it("the recorder ignores the output of a command after its run was stopped", () => {
  const { controller, recorder, events } = started();
  const print = (text: string): void =>
    recorder.handleCustomEvent(COMMAND_OUTPUT, { call: "run-1", text }, "run-1");
  print("one");
  controller.abort();
  recorder.finish();
  print("two");
  expect(events.slice(1)).toMatchObject([{ type: "tool-output", text: "one" }]);
});

it("a call that waits has no result yet, where an earlier one had its id", () => {
  const events: RunEventBody[] = [];
  const recorder = new Recorder((event) => void events.push(event), new AbortController().signal);
  const call = { id: "call_0", name: "write_file", args: { file_path: "/a" } };
  const refused = new ToolMessage({ tool_call_id: "call_0", content: "Refused.", status: "error" });
  const asks = new AIMessage({ content: "", tool_calls: [call] });
  recorder.expect({ owner: "main", call: "call_0", name: call.name, args: call.args });
  recorder.settleUnmade("main", [asks, refused, asks]);
  expect(events).toEqual([]);
  recorder.settleUnmade("main", [asks, refused, asks, refused]);
  expect(events).toMatchObject([{ type: "tool-start" }, { type: "tool-end", ok: false, result: "Refused." }]);
});

describe("a tool that throws", () => {
  it("has failed when it throws its own AbortError and the run is not aborted", () => {
    const { recorder, events } = started();
    recorder.handleToolError(aborted(), "run-1");
    expect(events.at(-1)).toMatchObject({
      type: "tool-end",
      ok: false,
      result: "This operation was aborted",
    });
  });

  it("while the run is aborted has not ended", () => {
    for (const error of [aborted(), new Error("The socket is closed")]) {
      const { controller, recorder, events } = started();
      controller.abort();
      recorder.handleToolError(error, "run-1");
      expect(events.map(({ type }) => type)).toEqual(["tool-start"]);
    }
  });

  it("an interrupt has not ended", () => {
    const { recorder, events } = started();
    recorder.handleToolError(new GraphInterrupt([]), "run-1");
    expect(events.map(({ type }) => type)).toEqual(["tool-start"]);
  });
});

it("the recorder cuts a tool's arguments and result between characters", () => {
  const { recorder, events } = started({ path: `/${"a".repeat(117)}😀😀` });
  recorder.handleToolEnd(
    new ToolMessage({ content: `${"b".repeat(118)}😀😀`, tool_call_id: "c", name: "fetch" }),
    "run-1",
  );
  expect(events).toMatchObject([
    { type: "tool-start", about: `/${"a".repeat(117)}…` },
    { type: "tool-end", result: `${"b".repeat(118)}…` },
  ]);
});

it("long arguments and results are cut, and say so", () => {
  const { recorder, events } = started({ path: "/a", content: "x".repeat(100_000), lines: [1, 2] });
  recorder.handleToolEnd("y".repeat(100_000), "run-1");
  const [start, end] = events as [
    Extract<RunEventBody, { type: "tool-start" }>,
    Extract<RunEventBody, { type: "tool-end" }>,
  ];
  expect(start.args).toMatchObject({ path: "/a", lines: [1, 2] });
  expect(JSON.stringify(start.args)).toMatch(/x\\n\[98000 characters of output left out\]\\nx/);
  expect(end.output).toMatch(/y\n\[80000 characters of output left out\]\ny/);
  expect(JSON.stringify(events).length).toBeLessThan(30_000);
});

it("arguments of many parts are cut too", () => {
  const { events } = started({ list: Array.from({ length: 50_000 }, (_, at) => at) });
  expect(JSON.stringify(events).length).toBeLessThan(30_000);
});
