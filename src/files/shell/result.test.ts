import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { shellBackend } from "./index.ts";
import { renderExecution } from "./run-command.ts";

const dir = mkdtempSync(join(tmpdir(), "holdfast-result-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const backend = shellBackend(dir, { isolation: "never" });

async function told(command: string): Promise<string> {
  const result = await backend.execute!(command);
  return result.ok ? renderExecution(result) : result.error;
}

describe("the result of a command", () => {
  it("has output and errors in the order in which they were written", async () => {
    const script = "console.log(1); console.error(2); console.log(3)";
    expect(await told(`node -e '${script}'; echo 4 >&2; echo 5`)).toBe("1\n2\n3\n4\n5");
  });

  it("has all of its output where this process has no time to read it", async () => {
    const hold = new Int32Array(new SharedArrayBuffer(4));
    const busy = setInterval(() => Atomics.wait(hold, 0, 0, 300), 1);
    try {
      expect(await told("seq 8000; exit 3")).toMatch(/\n8000\n\[Exit code 3\.\]$/);
    } finally {
      clearInterval(busy);
    }
  });

  it("says how it ended where the output does not", async () => {
    expect(await told("true")).toBe("[No output; exit code 0.]");
    expect(await told("exit 3")).toBe("[Exit code 3.]");
    expect(await told("echo a; exit 3")).toBe("a\n[Exit code 3.]");
    expect(await told("no-such-program-here")).toMatch(/not found\n\[Exit code 127\.\]$/);
  });

  it("says that processes in the background were ended", async () => {
    expect(await told("sleep 30 > /dev/null 2>&1 & echo started")).toBe(
      "started\n[What it had left running in the background was ended.]",
    );
    expect(await told("sleep 0 & wait; echo done")).toBe("done");
  });

  it.runIf(process.platform === "linux")("names no process of a sandbox, which ends by itself", async () => {
    const begun = `cp "$(command -v sleep)" bwrap; ./bwrap 99 > /dev/null 2>&1 & echo $! > pid`;
    expect(await told(`${begun}; until [ "$(cat /proc/$!/comm)" = bwrap ]; do :; done; echo done`)).toBe(
      "done",
    );
    // One that has ended, and waits to be collected, has no command line.
    expect(await told("cat /proc/$(cat pid)/cmdline 2> /dev/null | wc -c")).toBe("0");
  });

  it("goes to a named file when it is long, with its head and its tail shown", async () => {
    const model = new ScriptedModel([callTool("execute", { command: "seq 1 20000" }), "ok"]);
    const agent = createDeepAgent({ model, backend, plan: false });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
    const text = messages.find((message) => ToolMessage.isInstance(message))!.text;
    expect(text).toMatch(/^1\n2\n[^]*\n20000$/);
    expect(text.length).toBeLessThan(10_000);
    const [, path] = /The full text is in "(.*?)"/.exec(text)!;
    const saved = await backend.read(path!);
    expect(saved).toMatchObject({ ok: true });
    expect(saved.ok && saved.content.split("\n")).toHaveLength(20_000);
  });
});
