import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bashSandbox } from "../../../test/helpers/models/bash-sandbox.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { sandboxBackend } from "./sandbox.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-remote-"));
});
afterEach(() => rmSync(root, { recursive: true }));

describe("a sandbox of DeepAgents' protocol", () => {
  it("gives an agent its files and commands", async () => {
    const model = new ScriptedModel([
      callTool("write_file", { file_path: "/it's/in.txt", content: "hello\n" }),
      callTool("execute", { command: 'tr a-z A-Z < "it\'s/in.txt" > out.txt; pwd; exit 3' }),
      callTool("read_file", { file_path: "/out.txt" }),
      "ok",
    ]);
    const agent = createDeepAgent({ model, backend: sandboxBackend(bashSandbox(), { root }) });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
    const replies = messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
    expect(replies).toEqual(["Created /it's/in.txt.", `${root}\n[Exit code 3.]`, "     1\tHELLO"]);
  });

  it("ends commands at their time limit, and stops waiting for them on an abort", async () => {
    const backend = sandboxBackend(bashSandbox(), { root, timeoutMs: 5000 });
    expect(await backend.execute!("echo begun; sleep 600")).toMatchObject({
      ok: true,
      output: "begun\n",
      timedOut: true,
    });
    const abort = new AbortController();
    const running = backend.execute!("sleep 2; echo x > late.txt", { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(backend.execute!("echo", { signal: abort.signal })).rejects.toThrow("enough");
    for (const command of [" ", "echo \0"]) expect((await backend.execute!(command)).ok).toBe(false);
  });

  it("says where it has not seen everything", async () => {
    for (let n = 0; n < 40; n += 1) writeFileSync(join(root, `a-file-${n}.txt`), "needle");
    const backend = sandboxBackend(bashSandbox({ maxOutput: 200 }), { root });
    const found = await backend.grep({ pattern: "needle", output: "files" });
    expect(found.ok && found.notes.join()).toContain(`"/"`);
    expect(found.ok && found.files.length > 0 && found.files.every(({ path }) => path.endsWith(".txt"))).toBe(
      true,
    );
    expect(await backend.list("/")).toMatchObject({
      ok: false,
      error: expect.stringContaining("too many") as string,
    });
  });

  it("hides links, and deletes them without their targets", async () => {
    mkdirSync(join(root, "kept"));
    writeFileSync(join(root, "kept/a.txt"), "a");
    mkdirSync(join(root, "gone"));
    symlinkSync("../kept", join(root, "gone/link"));
    const backend = sandboxBackend(bashSandbox(), { root });
    expect(await backend.list("/gone")).toEqual({ ok: true, entries: [] });
    expect(await backend.delete("/gone")).toEqual({ ok: true });
    expect([existsSync(join(root, "gone")), existsSync(join(root, "kept/a.txt"))]).toEqual([false, true]);
  });

  it("refuses files that are too large, and passes on the sandbox's error", async () => {
    const backend = sandboxBackend(bashSandbox(), { root, maxBytes: 10 });
    writeFileSync(join(root, "large.txt"), "x".repeat(11));
    expect(await backend.read("/large.txt")).toMatchObject({ ok: false, reason: "too-large" });
    expect(await backend.write("/new.txt", "x".repeat(11))).toMatchObject({ ok: false, reason: "too-large" });
    const closed = sandboxBackend(
      { ...bashSandbox(), uploadFiles: ([file]) => [{ path: file![0], error: "permission_denied" }] },
      { root },
    );
    expect(await closed.write("/a.txt", "a")).toEqual({
      ok: false,
      error: `"/a.txt" cannot be written: permission_denied.`,
    });
  });
});
