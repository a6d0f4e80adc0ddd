import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { run } from "./run.ts";
import { collected } from "./served.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");

let home: string;
let model: Server;
let modelUrl: string;
/** Answers of the model that were asked for and not given yet. */
let asked: ServerResponse[];
const started = new Set<ChildProcess>();

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-serve-"));
  asked = [];
  model = createServer((request, response) => {
    request.resume().on("end", () => asked.push(response));
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
  model.closeAllConnections();
  await new Promise((resolve) => model.close(resolve));
  rmSync(home, { recursive: true });
});

const environment = () => ({
  PATH: process.env["PATH"],
  HOME: home,
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: `${modelUrl}/v1`,
});

interface Running {
  client: Client;
  url: string;
  token: string;
  output: () => string;
  /** Sends a signal, and resolves to the exit code when the process has ended. */
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts a server and reads the address that it prints. */
async function serve(...args: string[]): Promise<Running> {
  const flags = ["serve", "--port", "0", "--state", "threads.db", "--model", "openai:gpt-5.1", ...args];
  const child = spawn(process.execPath, [MAIN, ...flags], {
    cwd: home,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  await until(() => output.includes("\n"));
  const [, url = "", token = ""] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(output) ?? [];
  expect(url, output).not.toBe("");
  return {
    client: new Client({ apiUrl: url, apiKey: token, callerOptions: { maxRetries: 0 } }),
    url,
    token,
    output: () => output,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const event = (id: string, delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id, object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish }] })}\n\n`;

/** Gives the next answer that the model is asked for. */
async function answer(delta: object): Promise<void> {
  await until(() => asked.length > 0);
  const response = asked.shift()!;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const id = crypto.randomUUID();
  const end = event(id, {}, "tool_calls" in delta ? "tool_calls" : "stop");
  response.end(`${event(id, delta)}${end}data: [DONE]\n\n`);
}

const call = (id: string, name: string, args: object) => ({
  tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
});
const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const texts = async (client: Client, thread: string): Promise<string[]> => {
  const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(thread);
  return values.messages.map(({ type, content }) => `${type}: ${content}`);
};

it("after kill -9 the next server finishes every run, and those behind them, without repeating a finished call", async () => {
  const shell = ["--dir", ".", "--shell", "--yes", "--no-plan"];
  const first = await serve(...shell);
  const { thread_id: thread } = await first.client.threads.create();
  const { run_id: work } = await first.client.runs.create(thread, "holdfast", { input: ask("Count") });
  const { run_id: next } = await first.client.runs.create(thread, "holdfast", {
    input: ask("And then?"),
    multitaskStrategy: "enqueue",
  });
  await answer(call("c1", "execute", { command: "echo once >> count.txt" }));
  await until(() => asked.length > 0);
  const [counting] = asked;
  // Another has got no further than its message.
  const { thread_id: other } = await first.client.threads.create();
  const { run_id: hello } = await first.client.runs.create(other, "holdfast", { input: ask("Hello") });
  await until(() => asked.length > 1);
  expect(asked[0]).toBe(counting);
  await first.end("SIGKILL");
  asked = [];

  const second = await serve(...shell);
  await until(() => asked.length > 1);
  for (const words of ["Done.", "Done."]) await answer({ content: words });
  await answer({ content: "Nothing." });
  await second.client.runs.join(thread, next);
  expect(readFileSync(join(home, "count.txt"), "utf8")).toBe("once\n");
  expect(await second.client.runs.get(thread, work)).toMatchObject({ status: "success", attempt: 2 });
  expect(await second.client.runs.get(thread, next)).toMatchObject({ status: "success", attempt: 1 });
  const said = await texts(second.client, thread);
  expect([said[0], said[1], ...said.slice(3)]).toEqual([
    "human: Count",
    "ai: ",
    "ai: Done.",
    "human: And then?",
    "ai: Nothing.",
  ]);
  expect(said[2]).toMatch(/^tool: /);
  const events = await collected(second.client.runs.joinStream(other, hello, { lastEventId: "-1" }));
  expect(events[0]).toMatchObject({ event: "metadata", data: { run_id: hello, attempt: 2 } });
  expect(await texts(second.client, other)).toEqual(["human: Hello", "ai: Done."]);
});

it("who reads a run whose server is killed gets the rest from the next one, after the last that was read", async () => {
  const shell = ["--dir", ".", "--shell", "--yes", "--no-plan"];
  const first = await serve(...shell);
  const { thread_id: thread } = await first.client.threads.create();
  const { run_id: work } = await first.client.runs.create(thread, "holdfast", { input: ask("Count") });
  const streamMode = ["updates" as const];
  const seen: { id?: string; event: string }[] = [];
  const reading = first.client.runs.joinStream(thread, work, { lastEventId: "-1", streamMode });
  const read = (async () => {
    for await (const one of reading) seen.push(one);
  })().catch(() => {});
  await answer(call("c1", "execute", { command: "echo once" }));
  await until(() => asked.length > 0 && seen.some(({ event: kind }) => kind === "updates"));
  await first.end("SIGKILL");
  await read;
  asked = [];

  const second = await serve(...shell);
  await answer({ content: "Done." });
  const lastEventId = seen.at(-1)!.id!;
  const rest = await collected(second.client.runs.joinStream(thread, work, { lastEventId, streamMode }));
  expect(rest[0]).toMatchObject({ event: "metadata", data: { run_id: work, attempt: 2, gap: true } });
  expect(JSON.stringify(rest.at(-1))).toContain("Done.");
});

it("what is in the store is there after kill -9, and after a clean end", async () => {
  const kept = { namespace: ["facts", "kelp"], key: "height", value: { metres: 45 } };
  const first = await serve();
  await first.client.store.putItem(kept.namespace, kept.key, kept.value);
  const { thread_id: thread } = await first.client.threads.create();
  await first.end("SIGKILL");

  const second = await serve();
  expect(await second.client.store.getItem(kept.namespace, kept.key)).toMatchObject(kept);
  expect(await second.client.threads.get(thread)).toMatchObject({ thread_id: thread });
  await second.client.store.putItem(kept.namespace, kept.key, { metres: 46 });
  expect(await second.end("SIGINT")).toBe(0);

  const third = await serve();
  expect((await third.client.store.searchItems(["facts"])).items).toMatchObject([{ value: { metres: 46 } }]);
  await third.end("SIGINT");
  const checked = await run(process.execPath, [MAIN, "check", "--state", "threads.db"], {
    cwd: home,
    env: environment(),
  });
  expect(checked).toMatchObject({ ok: true, stderr: "" });
});

it("a task of `holdfast schedule`, and a run for later, are begun by the next server after kill -9", async () => {
  const holdfast = (...args: string[]) =>
    run(process.execPath, [MAIN, "schedule", ...args, "--state", "threads.db"], {
      cwd: home,
      env: environment(),
    });
  const [none, queue, time, name] = await Promise.all([
    holdfast(),
    holdfast("0 9 * * *", "x", "--queue", "night"),
    holdfast("sometimes", "x"),
    holdfast("0 9 * * *", "x", "--thread", "no/such thread"),
  ]);
  expect(none.stderr).toMatch(/^holdfast: There are no threads yet: .*threads\.db does not exist\.\n$/);
  expect(queue.stderr).toMatch(/^holdfast: --queue is for workers that share a database/);
  expect(time.stderr).toMatch(/^holdfast: The schedule "sometimes" cannot be kept/);
  expect(name.stderr).toMatch(/^holdfast: .*no\/such thread/);
  expect(readdirSync(home)).not.toContain("threads.db");
  const first = await serve();
  const { thread_id: thread } = await first.client.threads.create();
  const later = await first.client.runs.create(thread, "holdfast", { input: ask("Later"), afterSeconds: 1 });
  await first.end("SIGKILL");

  const added = await holdfast("* * * * * *", "Tidy up", "--no-plan", "--json");
  expect(added.stderr).toBe("holdfast: Started by holdfast serve, while it runs.\n");
  const { id } = JSON.parse(added.stdout) as { id: string };
  expect((await holdfast()).stdout).toBe(`${id} (* * * * * *): Tidy up\n`);

  const { client } = await serve();
  await until(() => asked.length > 1);
  expect(await holdfast("--remove", id)).toMatchObject({ ok: true, stdout: "" });
  await until(async () => {
    while (asked.length > 0) await answer({ content: "Done." });
    return (await client.threads.search({ status: "busy" })).length === 0;
  });
  expect(await client.runs.get(thread, later.run_id)).toMatchObject({ status: "success" });
  const tidied = (await client.threads.search()).filter(({ thread_id: other }) => other !== thread);
  expect(tidied.length).toBeGreaterThan(0);
  expect(await texts(client, tidied[0]!.thread_id)).toEqual(["human: Tidy up", "ai: Done."]);
  expect((await holdfast()).stdout).toBe("");
});

it("Ctrl-C stops runs where nothing is lost, and the thread goes on in the terminal", async () => {
  const { client, end, output } = await serve("--dir", ".", "--shell", "--yes", "--no-plan");
  const { thread_id: thread } = await client.threads.create({ threadId: "from-the-page" });
  await client.runs.create(thread, "holdfast", { input: ask("Count") });
  await answer(call("c1", "execute", { command: "echo once >> count.txt" }));
  await until(() => asked.length > 0);
  expect(await end("SIGTERM")).toBe(0);
  expect(output()).toContain("stopping; nothing finished is lost");
  asked = [];
  const resumed = run(
    process.execPath,
    [MAIN, "resume", "from-the-page", "--state", "threads.db", "--quiet"],
    { cwd: home, env: environment() },
  );
  await answer({ content: "Counted." });
  expect(await resumed).toMatchObject({ ok: true, stdout: "Counted.\n" });
  expect(readFileSync(join(home, "count.txt"), "utf8")).toBe("once\n");
});

it("a thread that the terminal works on is busy here, and a plan is edited there from here", async () => {
  const list = { todos: [{ content: "One", status: "in_progress" }, { content: "Two" }] };
  const working = run(
    process.execPath,
    [MAIN, "run", "Plan it", "--thread", "from-cli", "--state", "threads.db", "--model", "openai:gpt-5.1"],
    { cwd: home, env: environment() },
  );
  await answer(call("c1", "write_todos", list));
  await until(() => asked.length > 0);
  const { client, url, token } = await serve();
  expect((await client.threads.get("from-cli")).status).toBe("busy");
  await expect(client.runs.wait("from-cli", "holdfast", { input: ask("Me too") })).rejects.toThrow(
    /in use by process/,
  );
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const todos = [
    { id: "1", content: "One", status: "in_progress" },
    { id: "2", content: "Two", status: "pending" },
    { content: "Three", status: "pending" },
  ];
  const edited = fetch(`${url}/holdfast/threads/from-cli/plan`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ todos, base: todos.slice(0, 2) }),
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await answer(call("c2", "update_todos", { done: ["1"], start: ["2"] }));
  const { todos: now } = (await (await edited).json()) as { todos: { content: string }[] };
  expect(now.map(({ content }) => content)).toEqual(["One", "Two", "Three"]);
  await answer(call("c3", "update_todos", { done: ["2"], cancel: ["3"] }));
  await answer({ content: "Done." });
  expect((await working).ok).toBe(true);
});

it("sites and names that it is told of may use it, several of each", async () => {
  const sites = ["http://localhost:3000", "https://chat.example.com"];
  const names = ["proxy.example.com", "other.example.com"];
  const { url, token } = await serve(
    ...sites.flatMap((site) => ["--allow-origin", site]),
    ...names.flatMap((name) => ["--allow-host", name]),
  );
  const { hostname, port } = new URL(url);
  const statusFor = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      // `fetch` would not lie about the host.
      get({ hostname, port, path: "/info", headers: { "x-api-key": token, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on("error", reject);
    });
  for (const origin of sites) expect(await statusFor({ origin })).toBe(200);
  for (const host of names) expect(await statusFor({ host })).toBe(200);
  expect(await statusFor({ origin: "https://evil.example.com" })).toBe(403);
  expect(await statusFor({ host: "evil.example.com" })).toBe(421);
});

it("an address that other machines reach needs a token of one's own, and says what else", async () => {
  const flags = ["serve", "--port", "0", "--state", "threads.db", "--model", "offline", "--host", "0.0.0.0"];
  for (const more of [[], ["--token", "short"]]) {
    const { ok, stderr, stdout } = await run(process.execPath, [MAIN, ...flags, ...more], {
      cwd: home,
      env: environment(),
    });
    expect(ok).toBe(false);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/needs a token.*--token or HOLDFAST_TOKEN.*TLS/);
  }
});

it("a server that gets no address leaves what a killed one began to the next", async () => {
  const first = await serve();
  const { thread_id: thread } = await first.client.threads.create();
  const { run_id: work } = await first.client.runs.create(thread, "holdfast", { input: ask("Hello") });
  await until(() => asked.length > 0);
  await first.end("SIGKILL");
  asked = [];
  const { port } = model.address() as AddressInfo;
  const taken = ["serve", "--port", String(port), "--state", "threads.db", "--model", "openai:gpt-5.1"];
  const { ok } = await run(process.execPath, [MAIN, ...taken], { cwd: home, env: environment() });
  expect({ ok, asked }).toEqual({ ok: false, asked: [] });
  const next = await serve();
  await answer({ content: "Hello." });
  await next.client.runs.join(thread, work);
  expect(await next.client.runs.get(thread, work)).toMatchObject({ status: "success", attempt: 2 });
  await next.end("SIGTERM");
});

it("a port that is taken, and one that is none, are said in one line", async () => {
  const { port } = model.address() as AddressInfo;
  for (const [given, why] of [
    [String(port), "is in use"],
    ["70000", "0 to 65535"],
  ] as const) {
    const { ok, stderr } = await run(
      process.execPath,
      [MAIN, "serve", "--port", given, "--state", "threads.db", "--model", "offline"],
      { cwd: home, env: environment() },
    );
    expect(ok).toBe(false);
    expect(stderr).toContain(why);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
});

it("a thread that a terminal runs moves on in the page: its list, its plan and its end", async () => {
  const { url, token, end } = await serve();
  const headers = { authorization: `Bearer ${token}` };
  const events: { event: string; data: Record<string, unknown> }[] = [];
  const reading = new AbortController();
  const response = await fetch(`${url}/holdfast/events`, { headers, signal: reading.signal });
  const read = readEvents(response, (one) => events.push(one)).catch(() => {});
  const opened = async () => {
    const { id } = events.find(({ event: kind }) => kind === "thread")!.data;
    const answered = await fetch(`${url}/holdfast/threads/${String(id)}`, { headers });
    return (await answered.json()) as {
      thread: { status: string; title: string };
      events: { type: string; todos: { status: string }[]; outcome: string }[];
    };
  };
  const plan = async () =>
    (await opened()).events.findLast(({ type }) => type === "plan-change")?.todos.map(({ status }) => status);
  /** Waits for another word about the thread, and forgets those before. */
  const moved = async (): Promise<void> => {
    await until(() => events.some(({ event: kind, data }) => kind === "gap" && data["thread"] !== undefined));
    const at = events.findLastIndex(({ event: kind }) => kind === "thread");
    events.splice(0, events.length, events[at]!);
  };

  const flags = ["run", "--state", "threads.db", "--model", "openai:gpt-5.1", "From the terminal"];
  const child = spawn(process.execPath, [MAIN, ...flags], { cwd: home, env: environment(), stdio: "ignore" });
  started.add(child);
  await answer(call("c1", "write_todos", { todos: [{ content: "Look", status: "in_progress" }] }));
  await until(() => asked.length > 0);
  do await moved();
  while (!(await plan()));
  expect((await opened()).thread).toMatchObject({ status: "running", title: "From the terminal" });
  expect(await plan()).toEqual(["in_progress"]);
  await answer(call("c2", "update_todos", { done: ["1"] }));
  do await moved();
  while ((await plan())?.[0] !== "completed");
  expect((await opened()).thread.status).toBe("running");
  await answer({ content: "It is done." });
  do await moved();
  while ((await opened()).thread.status === "running");
  expect((await opened()).events.at(-1)).toMatchObject({ type: "run-end", outcome: "done" });
  expect(events[0]!.data).toMatchObject({ status: "done" });
  reading.abort();
  await read;
  expect(await end("SIGINT")).toBe(0);
});

/** Reads a stream of events to its end. */
async function readEvents(
  response: Response,
  onEvent: (one: { event: string; data: Record<string, unknown> }) => void,
): Promise<void> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, kind] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (kind && data) onEvent({ event: kind, data: JSON.parse(data) as Record<string, unknown> });
    }
  }
}
