import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { startEditor, type Editor } from "./acp/editor.ts";
import { calls, says } from "./chat-stream.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";

const SLOWLY = { timeout: 120_000 };
let home: string;
let dir: string;
/** A function makes calls until the model has heard the words that it waits for. */
let script: (string | ((heard: string) => string | undefined))[];
let model: ModelServer;
let editor: Editor;
/** Another process, on the same threads. */
let other: Editor;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-acp-actions-")));
  model = await startModelServer(({ messages }) => {
    const [first] = script;
    const more = typeof first === "function" ? first(JSON.stringify(messages)) : undefined;
    if (more === undefined && typeof first === "function") script.shift();
    return { status: 200, body: more ?? (script.shift() as string | undefined) ?? says("ok") };
  });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_MODEL: "openai-compatible:m",
    HOLDFAST_BASE_URL: `${model.url}/v1`,
  };
  const start = () => startEditor({ cwd: home, env, flags: ["--mode", "auto"], permit: () => "approve" });
  [editor, other] = await Promise.all([start(), start()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([editor, other].map((one) => one.end()));
  model.stop();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  dir = mkdtempSync(join(home, "project-"));
  script = [];
  model.requests.length = 0;
  editor.clear();
});

const begin = async (): Promise<string> =>
  (await editor.agent.request(methods.agent.session.new, { cwd: dir, mcpServers: [] })).sessionId;
const sent = (): string => JSON.stringify(model.requests);

it("a prompt while another is worked on reaches the agent at its next call", async () => {
  script = [
    calls(["execute", { command: "touch started; while ! test -e go; do sleep 0.05; done" }]),
    says("Done."),
  ];
  const session = await begin();
  const first = editor.prompt(session, "Garden");
  await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
  const second = editor.prompt(session, "Water it, too");
  writeFileSync(join(dir, "go"), "");
  expect(await Promise.all([first, second])).toEqual([
    { stopReason: "end_turn" },
    { stopReason: "end_turn" },
  ]);
  expect(model.requests).toHaveLength(2);
  expect(sent()).toContain("Water it, too");
});

it("a prompt in another process reaches the agent, too", async () => {
  script = [
    calls(["execute", { command: "touch started" }]),
    (heard) =>
      heard.includes("Water it")
        ? undefined
        : calls(["execute", { command: `sleep 0.1; true ${heard.length}` }]),
    says("Watered."),
  ];
  const session = await begin();
  const done = editor.prompt(session, "Garden");
  await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
  await other.agent.request(methods.agent.session.resume, { sessionId: session, cwd: dir, mcpServers: [] });
  await other.prompt(session, "Water it, too");
  expect(other.said()).toContain("Another process works on this thread");
  await done;
  expect(editor.said()).toContain("Watered.");
});

it("/undo takes back the last prompt and its files, /compact has the conversation summarized", async () => {
  const write = (content: string) => calls(["write_file", { file_path: "/a.txt", content }]);
  script = [write("one"), says("Written."), write("two"), says("Rewritten.")];
  const session = await begin();
  await editor.prompt(session, "Write one");
  await editor.prompt(session, "Write two");
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("two");
  const asked = model.requests.length;
  await editor.prompt(session, "/undo");
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("one");
  expect(editor.said()).toContain("Files put back: /a.txt");
  await editor.prompt(session, "/compact");
  expect(editor.said()).toContain("The conversation is short already.");
  expect(model.requests).toHaveLength(asked);
  model.requests.length = 0;
  await editor.prompt(session, "Write three");
  expect(sent()).not.toContain("Write two");
});
