import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { actionContract } from "../contracts/actions.ts";
import type { ModelTurn } from "../contracts/plan-edits.ts";
import { startEditor, type Editor } from "../helpers/acp/editor.ts";
import { calls, says } from "../helpers/models/chat-stream.ts";
import { startModelServer, type ModelServer } from "../helpers/models/model-server.ts";
import { isRelease } from "../helpers/runner/rounds.ts";

const SLOWLY = { timeout: 120_000 };
let home: string;
let dir: string;
/** A function makes calls until the model has heard the words that it waits for. */
let script: (string | ((heard: string) => string | undefined))[];
/** Answers in the place of a script. */
let answer: ModelTurn | undefined;
let model: ModelServer;
let editor: Editor;
/** Another process, on the same threads. */
let other: Editor;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-acp-actions-")));
  model = await startModelServer(async ({ messages }) => {
    if (answer) {
      const reply = await answer((messages as { content: unknown }[]).map(({ content }) => textOf(content)));
      const body = typeof reply === "string" ? says(reply) : calls([reply.name, reply.args]);
      return { status: 200, body };
    }
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
});
afterAll(async () => {
  await Promise.all([editor, other].map((one) => one.end()));
  model.stop();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  dir = mkdtempSync(join(home, "project-"));
  script = [];
  answer = undefined;
  model.requests.length = 0;
  editor.clear();
});

const begin = async (): Promise<string> =>
  (await editor.agent.request(methods.agent.session.new, { cwd: dir, mcpServers: [] })).sessionId;
const textOf = (content: unknown): string =>
  typeof content === "string" ? content : JSON.stringify(content);

describe("a session of an editor", () => {
  actionContract(async (turn) => {
    answer = turn;
    const session = await begin();
    const sendPrompt = (text: string) => editor.prompt(session, text);
    return {
      dir,
      run: sendPrompt,
      say: sendPrompt,
      stop: () => editor.agent.notify(methods.agent.session.cancel, { sessionId: session }),
      undo: () => sendPrompt("/undo"),
      compact: () => sendPrompt("/compact"),
      askMore: () =>
        editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "ask" }),
    };
  });
});

it.runIf(isRelease)("a prompt in another process reaches the agent, too", async () => {
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

it("/fork copies the session: words in one of the two are not in the other", async () => {
  script = [says("Noted."), says("In the copy."), says("In the first.")];
  const session = await begin();
  await editor.prompt(session, "Remember 7");
  await editor.prompt(session, "/fork");
  const [copy = ""] = /(?<=The copy is )[\w.-]+(?=:)/.exec(editor.said()) ?? [];
  const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: dir });
  expect(sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual([copy, session].toSorted());
  await editor.agent.request(methods.agent.session.resume, { sessionId: copy, cwd: dir, mcpServers: [] });
  await editor.prompt(copy, "Forget 7");
  await editor.prompt(session, "Which number?");
  const [, inCopy, inFirst] = model.requests.map((request) => JSON.stringify(request));
  expect(inCopy).toMatch(/Remember 7[^]*Noted[^]*Forget 7/);
  expect(inFirst).toMatch(/Remember 7[^]*Which number/);
  expect(inFirst).not.toContain("Forget 7");
});

it("/undo, /compact and /fork are not words for the agent at work: they are refused", async () => {
  let asked: Promise<unknown> | undefined;
  answer = async () => {
    asked ??= Promise.all(["/undo", "/compact", "/fork"].map((command) => editor.prompt(session, command)));
    await asked;
    return "Done.";
  };
  const session = await begin();
  await editor.prompt(session, "Look around");
  const said = editor.said();
  for (const command of ["/undo", "/compact", "/fork"])
    expect(said).toContain(`${command} is not possible during a turn`);
  expect(JSON.stringify(model.requests)).not.toContain("/undo");
});

it("/undo lists restored files and /compact refuses a short session, without a model", async () => {
  script = [calls(["write_file", { file_path: "/a.txt", content: "one" }]), says("Written.")];
  const session = await begin();
  await editor.prompt(session, "Write one");
  const asked = model.requests.length;
  await editor.prompt(session, "/undo");
  expect(editor.said()).toContain("Files put back: /a.txt");
  await editor.prompt(session, "/compact");
  expect(editor.said()).toContain("The conversation is short already.");
  expect(model.requests).toHaveLength(asked);
});
