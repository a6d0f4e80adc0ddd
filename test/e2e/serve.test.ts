import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, get, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { PlanEdits } from "../../src/threads/plan/plan-edits.ts";
import { collected } from "../helpers/page/graph-server.ts";
import { isRelease } from "../helpers/runner/rounds.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");

let home: string;
let model: Server;
let modelUrl: string;
/** What the model was asked, and has not answered yet. */
let asked: { body: string; response: ServerResponse }[] = [];
const started = new Set<ChildProcess>();

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-serve-"));
  model = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => asked.push({ body, response }));
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
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

/** A command in this process, which is another one than the server's. */
const holdfast = (...args: string[]) =>
  inPipes([...args, "--state", "threads.db"], { cwd: home, env: environment() });

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
    stream.on("data", (piece: Buffer) => (output += piece.toString()));
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

const isAsked = (words: string): boolean => asked.some(({ body }) => body.includes(words));

/** Gives the next answer to a conversation with these words. */
async function answer(words: string, delta: object): Promise<void> {
  await until(() => isAsked(words));
  const at = asked.findIndex(({ body }) => body.includes(words));
  const [{ response }] = asked.splice(at, 1) as [(typeof asked)[number]];
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

it("an address for other machines requires the user's own token, and names TLS", async () => {
  const flags = ["serve", "--port", "0", "--model", "offline", "--host", "0.0.0.0"];
  for (const more of [[], ["--token", "short"]]) {
    const { code, out, err } = await holdfast(...flags, ...more);
    expect(code).toBeGreaterThan(0);
    expect(out).toBe("");
    expect(err).toMatch(/needs a token.*--token or HOLDFAST_TOKEN.*TLS/);
  }
});

it("a used port and an invalid port give one line each", async () => {
  const { port } = model.address() as AddressInfo;
  for (const [given, why] of [
    [String(port), "is in use"],
    ["70000", "0 to 65535"],
  ] as const) {
    const { code, err } = await holdfast("serve", "--port", given, "--model", "offline");
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(why);
    expect(err.trim().split("\n")).toHaveLength(1);
  }
});

it("`holdfast schedule` creates no store for refused arguments", async () => {
  const schedule = async (...args: string[]): Promise<string> =>
    (await inPipes(["schedule", ...args, "--state", "none.db"], { cwd: home, env: environment() })).err;
  expect(await schedule()).toMatch(/^holdfast: There are no threads yet: .*none\.db does not exist\.\n$/);
  expect(await schedule("0 9 * * *", "x", "--queue", "night")).toMatch(
    /^holdfast: --queue is for workers that share a database/,
  );
  expect(await schedule("0 9 * * *", "x", "--timezone", "Mars/Base")).toMatch(/cannot be kept: .*Mars\/Base/);
  expect(await schedule("sometimes", "x")).toMatch(/^holdfast: The schedule "sometimes" cannot be kept/);
  expect(await schedule("0 9 * * *", "x", "--thread", "no/such thread")).toMatch(
    /^holdfast: .*no\/such thread/,
  );
  expect(readdirSync(home)).not.toContain("none.db");
});

describe("after kill -9", () => {
  const SHELL = ["--dir", ".", "--shell", "--yes", "--no-plan"];
  const KEPT = { namespace: ["facts", "kelp"], key: "height", value: { metres: 45 } };
  const updates = { streamMode: ["updates" as const] };
  const seen: { id?: string; event: string }[] = [];
  let [thread, other, third] = ["", "", ""];
  let [work, next, hello, later] = ["", "", "", ""];
  let isWaiting: boolean;
  let failed: { code: number; asked: number };
  let scheduled: Awaited<ReturnType<typeof holdfast>>;
  let second: Running;

  beforeAll(async () => {
    const first = await serve(...SHELL);
    const { threads, runs, store } = first.client;
    [thread, other, third] = (await Promise.all([threads.create(), threads.create(), threads.create()])).map(
      ({ thread_id: id }) => id,
    ) as [string, string, string];
    await store.putItem(KEPT.namespace, KEPT.key, KEPT.value);
    ({ run_id: work } = await runs.create(thread, "holdfast", { input: ask("Count to one") }));
    ({ run_id: next } = await runs.create(thread, "holdfast", {
      input: ask("And then?"),
      multitaskStrategy: "enqueue",
    }));
    const reading = runs.joinStream(thread, work, { lastEventId: "-1", ...updates });
    const read = (async () => {
      for await (const one of reading) seen.push(one);
    })().catch(() => {});
    await answer("Count to one", call("c1", "execute", { command: "echo once >> count.txt" }));
    await until(() => isAsked("Count to one") && seen.some(({ event: kind }) => kind === "updates"));
    const [counting] = asked;
    // Another has got no further than its message, and a third is for later.
    ({ run_id: hello } = await runs.create(other, "holdfast", { input: ask("Hello there") }));
    await until(() => asked.length > 1);
    isWaiting = asked[0] === counting;
    ({ run_id: later } = await runs.create(third, "holdfast", { input: ask("Later on"), afterSeconds: 1 }));
    await first.end("SIGKILL");
    await read;
    asked = [];

    const { port } = model.address() as AddressInfo;
    const { code } = await holdfast("serve", "--port", String(port), "--model", "openai:gpt-5.1");
    failed = { code, asked: asked.length };
    scheduled = await holdfast("schedule", "* * * * * *", "Tidy up", "--no-plan", "--json");
    second = await serve(...SHELL);
  });

  it("a server without an address leaves the killed server's runs to the next server", () => {
    expect(failed.code).toBeGreaterThan(0);
    expect(failed.asked).toBe(0);
  });

  it("the next server finishes every run and its queue, and repeats no finished call", async () => {
    const { runs } = second.client;
    expect(isWaiting).toBe(true);
    await until(() => isAsked("Count to one") && isAsked("Hello there"));
    await answer("Count to one", { content: "Done." });
    await answer("Hello there", { content: "Done." });
    await answer("And then?", { content: "Nothing." });
    await runs.join(thread, next);
    expect(readFileSync(join(home, "count.txt"), "utf8")).toBe("once\n");
    expect(await runs.get(thread, work)).toMatchObject({ status: "success", attempt: 2 });
    expect(await runs.get(thread, next)).toMatchObject({ status: "success", attempt: 1 });
    const said = await texts(second.client, thread);
    expect([said[0], said[1], ...said.slice(3)]).toEqual([
      "human: Count to one",
      "ai: ",
      "ai: Done.",
      "human: And then?",
      "ai: Nothing.",
    ]);
    expect(said[2]).toMatch(/^tool: /);
    const events = await collected(runs.joinStream(other, hello, { lastEventId: "-1" }));
    expect(events[0]).toMatchObject({ event: "metadata", data: { run_id: hello, attempt: 2 } });
    expect(await texts(second.client, other)).toEqual(["human: Hello there", "ai: Done."]);
  });

  it("a reader of a run gets the rest from the next server, after the last read event", async () => {
    const lastEventId = seen.at(-1)!.id!;
    const rest = await collected(second.client.runs.joinStream(thread, work, { lastEventId, ...updates }));
    expect(rest[0]).toMatchObject({ event: "metadata", data: { run_id: work, attempt: 2, gap: true } });
    expect(JSON.stringify(rest.at(-1))).toContain("Done.");
  });

  it("the server reads stored items back", async () => {
    expect(await second.client.store.getItem(KEPT.namespace, KEPT.key)).toMatchObject(KEPT);
    expect(await second.client.threads.get(third)).toMatchObject({ thread_id: third });
  });

  it("the next server starts a task of `holdfast schedule` and a run for later", async () => {
    const { client } = second;
    expect(scheduled.err).toBe("holdfast: Started by holdfast serve, while it runs.\n");
    const { id } = JSON.parse(scheduled.out) as { id: string };
    const { out: list } = await holdfast("schedule");
    expect(list).toMatch(/ \(\* \* \* \* \* \*, next \S+Z\): Tidy up\n$/);
    expect(list).toContain(id);
    await until(() => isAsked("Tidy up") && isAsked("Later on"));
    expect(await holdfast("schedule", "--remove", id)).toMatchObject({ code: 0, out: "" });
    await until(async () => {
      while (asked.length > 0) await answer("", { content: "Done." });
      return (await client.threads.search({ status: "busy" })).length === 0;
    });
    expect(await client.runs.get(third, later)).toMatchObject({ status: "success" });
    const tidied = (await client.threads.search()).filter(
      ({ thread_id: one }) => ![thread, other, third].includes(one),
    );
    expect(tidied.length).toBeGreaterThan(0);
    expect(await texts(client, tidied[0]!.thread_id)).toEqual(["human: Tidy up", "ai: Done."]);
    expect((await holdfast("schedule")).out).toBe("");
  });

  it("Ctrl-C stops runs and loses nothing, and the thread continues in the terminal", async () => {
    const { client, end, output } = second;
    await client.store.putItem(KEPT.namespace, KEPT.key, { metres: 46 });
    await client.threads.create({ threadId: "from-the-page" });
    await client.runs.create("from-the-page", "holdfast", { input: ask("Count again") });
    await answer("Count again", call("c1", "execute", { command: "echo once >> again.txt" }));
    await until(() => isAsked("Count again"));
    expect(await end("SIGTERM")).toBe(0);
    expect(output()).toContain("stopping; nothing finished is lost");
    asked = [];
    const resumed = holdfast("resume", "from-the-page", "--quiet");
    await answer("Count again", { content: "Counted." });
    expect(await resumed).toMatchObject({ code: 0, out: "Counted.\n" });
    expect(readFileSync(join(home, "again.txt"), "utf8")).toBe("once\n");
  });
});

describe("after a clean end", () => {
  const SITES = ["http://localhost:3000", "https://chat.example.com"];
  const NAMES = ["proxy.example.com", "other.example.com"];
  let served: Running;

  beforeAll(async () => {
    served = await serve(
      ...SITES.flatMap((site) => ["--allow-origin", site]),
      ...NAMES.flatMap((name) => ["--allow-host", name]),
    );
  });

  it("the server reads stored items back", async () => {
    const { items } = await served.client.store.searchItems(["facts"]);
    expect(items).toMatchObject([{ value: { metres: 46 } }]);
  });

  it("the allowed sites and names may use the server, several of each", async () => {
    const { hostname, port } = new URL(served.url);
    const statusFor = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { hostname, port, path: "/info", headers: { "x-api-key": served.token, ...headers } };
        // `fetch` would not lie about the host.
        get(options, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on("error", reject);
      });
    for (const origin of SITES) expect(await statusFor({ origin })).toBe(200);
    for (const host of NAMES) expect(await statusFor({ host })).toBe(200);
    expect(await statusFor({ origin: "https://evil.example.com" })).toBe(403);
    expect(await statusFor({ host: "evil.example.com" })).toBe(421);
  });

  it("a thread that the terminal runs is busy on the server, which can edit its plan", async () => {
    const list = { todos: [{ content: "One", status: "in_progress" }, { content: "Two" }] };
    const working = holdfast("run", "Plan it", "--thread", "from-cli", "--model", "openai:gpt-5.1");
    await answer("Plan it", call("c1", "write_todos", list));
    await until(() => isAsked("Plan it"));
    const { client, url, token } = served;
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
    const submit = vi.spyOn(PlanEdits.prototype, "submit");
    const edited = fetch(`${url}/holdfast/threads/from-cli/plan`, {
      method: "PUT",
      headers,
      body: JSON.stringify({ todos, base: todos.slice(0, 2) }),
    });
    await until(() => submit.mock.calls.length > 0);
    await answer("Plan it", call("c2", "update_todos", { done: ["1: by hand"], start: ["2"] }));
    const { todos: now } = (await (await edited).json()) as { todos: { content: string }[] };
    expect(now.map(({ content }) => content)).toEqual(["One", "Two", "Three"]);
    await answer("Plan it", call("c3", "update_todos", { done: ["2: by hand"], cancel: ["3"] }));
    await answer("Plan it", { content: "Done." });
    expect((await working).code).toBe(0);
  });

  it.runIf(isRelease)("a thread that a terminal runs updates on the page: list, plan and end", async () => {
    const { url, token } = served;
    const id = "from-the-terminal";
    const headers = { authorization: `Bearer ${token}` };
    const events: { event: string; data: Record<string, unknown> }[] = [];
    const reading = new AbortController();
    const response = await fetch(`${url}/holdfast/events`, { headers, signal: reading.signal });
    const read = readEvents(response, (one) => {
      if (one.data["id"] === id || one.data["thread"] === id) events.push(one);
    }).catch(() => {});
    const opened = async () => {
      const answered = await fetch(`${url}/holdfast/threads/${id}`, { headers });
      return (await answered.json()) as {
        thread: { status: string; title: string };
        events: { type: string; todos: { status: string }[]; outcome: string }[];
      };
    };
    const plan = async () =>
      (await opened()).events
        .findLast(({ type }) => type === "plan-change")
        ?.todos.map(({ status }) => status);
    /** Waits for another word about the thread, and forgets those before. */
    const moved = async (): Promise<void> => {
      await until(() => events.some(({ event: kind, data }) => kind === "gap" && data["thread"] === id));
      const at = events.findLastIndex(({ event: kind }) => kind === "thread");
      events.splice(0, events.length, events[at]!);
    };

    const working = holdfast("run", "From the terminal", "--thread", id, "--model", "openai:gpt-5.1");
    await answer(
      "From the terminal",
      call("c1", "write_todos", { todos: [{ content: "Look", status: "in_progress" }] }),
    );
    await until(() => isAsked("From the terminal"));
    do await moved();
    while (!(await plan()));
    expect((await opened()).thread).toMatchObject({ status: "running", title: "From the terminal" });
    expect(await plan()).toEqual(["in_progress"]);
    await answer("From the terminal", call("c2", "update_todos", { done: ["1: by hand"] }));
    do await moved();
    while ((await plan())?.[0] !== "completed");
    expect((await opened()).thread.status).toBe("running");
    await answer("From the terminal", { content: "It is done." });
    do await moved();
    while ((await opened()).thread.status === "running");
    expect((await opened()).events.at(-1)).toMatchObject({ type: "run-end", outcome: "done" });
    expect(events[0]!.data).toMatchObject({ status: "done" });
    reading.abort();
    await read;
    expect((await working).code).toBe(0);
  });

  it("the file is sound when it has ended", async () => {
    expect(await served.end("SIGINT")).toBe(0);
    expect(await holdfast("check")).toMatchObject({ code: 0, err: "" });
  });
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
