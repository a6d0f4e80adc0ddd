import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { actionContract } from "../../../../test/contracts/actions.ts";
import { stepOf } from "../../../../test/contracts/plan-edits.ts";
import {
  begin,
  folder,
  open,
  recover,
  saver,
  send,
  setStage,
  settled,
  start,
  stop,
} from "../../../../test/helpers/page/threads-server.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { requestSay } from "../../../threads/edit/mailbox.ts";
import { createRunAgent } from "../../../threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { Thread } from "../../../threads/thread/thread.ts";

setStage();

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function gate() {
  let go = (): void => {};
  let reach = (): void => {};
  const opened = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { open: () => go(), reached, step: async () => (reach(), opened) };
}

const tasksOf = async (thread: string) =>
  (await open(thread)).events.flatMap((event) => (event.type === "run-start" ? [event.task] : []));

/** An agent that is in the middle of its first turn, and tells the words of people that its next call has. */
async function working(): Promise<{ thread: string; finish: () => Promise<string[]> }> {
  const first = gate();
  let words: string[] = [];
  const steps: Step[] = [
    async () => {
      await first.step();
      return callTool("ls", { path: "/" });
    },
    ({ messages }) => {
      words = messages.filter((message) => message.getType() === "human").map(({ text }) => text);
      return "Done.";
    },
  ];
  await start(steps, { plan: false });
  const thread = await begin("Look around");
  await first.reached;
  return {
    thread,
    finish: async () => {
      first.open();
      await settled(thread);
      return words;
    },
  };
}

describe("a thread on the page", () => {
  actionContract(async (turn) => {
    const dir = join(folder, "project");
    mkdirSync(dir);
    const settings = { plan: false, mode: "edits", dir } as const;
    await start([stepOf(turn)], settings, { copies: join(folder, "copies") }, { loop: true });
    let thread = "";
    let compact = false;
    const post = (what: string, body: object = {}) => send("POST", `/threads/${thread}/${what}`, body);
    return {
      dir,
      run: async (task) => {
        if (thread === "") thread = await begin(task);
        else await post("runs", { task, compact });
        compact = false;
        const { questions } = await settled(thread);
        const answers = Object.fromEntries(questions.map(({ id }) => [id, { type: "reject" }]));
        if (questions.length > 0) await post("answers", { answers });
        await settled(thread);
      },
      say: (words) => post("messages", { task: words }),
      stop: () => post("stop"),
      undo: () => post("undo"),
      compact: async () => (compact = true),
      askMore: () => send("PATCH", `/threads/${thread}/settings`, { mode: "ask" }),
    };
  });
});

describe("a message to the agent at work", () => {
  it("is stored at once, read at its next call, and shown in its place", async () => {
    const { thread, finish } = await working();
    expect(await send("POST", `/threads/${thread}/messages`, { task: "Be brief" })).toEqual({
      status: 202,
      body: {},
    });
    // It is stored before the agent reads it.
    expect(await (await saver.mailbox(thread))!.waiting()).toMatchObject([
      { content: { say: { content: "Be brief" } } },
    ]);
    expect((await open(thread)).kept).toEqual(["Be brief"]);
    expect((await finish()).some((text) => text.includes("Be brief"))).toBe(true);
    const { events, kept } = await open(thread);
    expect(kept).toEqual([]);
    const types = events.map(({ type }) => type);
    expect(events.filter(({ type }) => type === "message")).toMatchObject([{ text: "Be brief" }]);
    expect(types.filter((type) => type === "run-start")).toHaveLength(1);
    expect(types.indexOf("message")).toBeLessThan(types.lastIndexOf("model-start"));
  });

  it("is the next task where the run ends before a call that could read it", async () => {
    const last = gate();
    await start([async () => (await last.step(), "First."), "Second."], { plan: false });
    const thread = await begin("One");
    await last.reached;
    expect((await send("POST", `/threads/${thread}/messages`, { task: "Two" })).body).toEqual({});
    await send("POST", `/threads/${thread}/stop`);
    last.open();
    await vi.waitFor(async () => expect(await tasksOf(thread)).toEqual(["One", "Two"]), 120_000);
    await settled(thread);
  });

  it("is stored when its server stops before delivery, and the next server delivers it", async () => {
    const first = gate();
    await start([async () => (await first.step(), "Never said.")], { plan: false });
    const thread = await begin("One");
    await first.reached;
    await send("POST", `/threads/${thread}/messages`, { task: "Be brief" });
    const stopped = stop();
    first.open();
    await stopped;
    const model = await start(["Done.", "Done.", "Done."], { plan: false });
    await recover();
    const texts = () => model.requests.flatMap(({ messages }) => messages.map(({ text }) => text));
    await vi.waitFor(() => expect(texts().join("\n")).toContain("Be brief"), 120_000);
    await settled(thread);
  });

  it("comes from another process, too", async () => {
    const first = gate();
    let isHeard = false;
    const steps: Step[] = [
      async () => (await first.step(), callTool("ls", { path: "/" })),
      ...Array.from({ length: 500 }, (): Step => ({ messages }) => {
        isHeard = messages.some(({ text }) => text.includes("From elsewhere"));
        return isHeard ? "Done." : callTool("ls", { path: `/${messages.length}` });
      }),
    ];
    await start(steps, { plan: false });
    const thread = await begin("Look around");
    await first.reached;
    const reader = createRunAgent({ settings: { ...DEFAULT_SETTINGS, model: "" }, checkpointer: saver });
    const { signal } = new AbortController();
    const said = requestSay(new Thread(reader, thread), "From elsewhere", { signal, onWait: first.open });
    await said;
    await settled(thread);
    expect(isHeard).toBe(true);
    await expect(
      requestSay(new Thread(reader, thread), "Too late", { signal, onWait: () => {} }),
    ).rejects.toMatchObject({ code: "run-ended" });
  });

  it("is the next task when no agent is running", async () => {
    await start(["First.", "Second."], { plan: false });
    const thread = await begin("One");
    await settled(thread);
    const { status, body } = await send("POST", `/threads/${thread}/messages`, { task: "Two" });
    expect([status, Object.keys(body)]).toEqual([202, ["run"]]);
    await settled(thread);
    expect(await tasksOf(thread)).toEqual(["One", "Two"]);
  });
});

describe("undo", () => {
  const write = (content: string) => callTool("write_file", { file_path: "/a.txt", content });

  it("takes back the last message and its files; the first one begins another thread", async () => {
    const dir = join(folder, "project");
    mkdirSync(dir);
    writeFileSync(join(dir, "kept.txt"), "kept");
    await start(
      [write("one"), "Written.", write("two"), "Rewritten."],
      { plan: false, dir },
      {
        copies: join(folder, "copies"),
      },
    );
    const thread = await begin("Write one");
    await settled(thread);
    await send("POST", `/threads/${thread}/runs`, { task: "Write two" });
    await settled(thread);
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("two");
    expect(await send("POST", `/threads/${thread}/undo`, {})).toMatchObject({
      status: 200,
      body: { text: "Write two", isFirst: false, notes: ["Files put back: /a.txt"] },
    });
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("one");
    const tasks = (await open(thread)).events.flatMap((event) =>
      event.type === "run-start" ? [event.task] : [],
    );
    expect(tasks).toEqual(["Write one"]);
    expect(await send("POST", `/threads/${thread}/undo`, {})).toMatchObject({ body: { isFirst: true } });
    expect([existsSync(join(dir, "a.txt")), existsSync(join(dir, "kept.txt"))]).toEqual([false, true]);
  });

  it("is refused while the agent is at work", async () => {
    const { thread, finish } = await working();
    expect(await send("POST", `/threads/${thread}/undo`, {})).toMatchObject({ status: 409 });
    await finish();
  });
});

describe("settings of a thread", () => {
  it("are changed from its next run on, and never to ask less than the server does", async () => {
    await start(["One.", callTool("write_file", { file_path: "/a", content: "a" })], {
      plan: false,
      mode: "edits",
    });
    const thread = await begin("One");
    await settled(thread);
    const change = (settings: object) => send("PATCH", `/threads/${thread}/settings`, settings);
    expect(await change({ mode: "auto" })).toMatchObject({ status: 422 });
    expect(await change({ model: "nobody:x" })).toMatchObject({ status: 422 });
    expect(await change({ effort: "most" })).toMatchObject({ status: 422 });
    expect(await change({ mode: "ask", effort: "low" })).toMatchObject({ status: 200 });
    const settings = { mode: "ask", model: "scripted", effort: "low" };
    expect((await open(thread)).settings).toMatchObject(settings);
    await send("POST", `/threads/${thread}/runs`, { task: "Write" });
    expect((await settled(thread)).questions).toMatchObject([{ kind: "permission" }]);
  });
});

describe("a task", () => {
  it("takes images where its model does", async () => {
    const images = [{ type: "image/png", data: PIXEL }];
    await start(["Seen."], { plan: false });
    const refused = await send("POST", "/threads", { task: "Look", images });
    expect(refused).toMatchObject({ status: 422, body: { message: "scripted does not take images." } });
    expect(
      await send("POST", "/threads", { task: "Look", images: [{ type: "text/html", data: "" }] }),
    ).toMatchObject({ status: 422 });
  });

  it("sends images to a model that takes them", async () => {
    let seen: unknown;
    const model = new ScriptedModel([
      ({ messages }) => {
        seen = messages.at(-1)?.content;
        return "Seen.";
      },
    ]);
    Object.defineProperty(model, "profile", { value: { imageInputs: true } });
    await start(
      [],
      { plan: false },
      {
        modelOf: async () => ({ model, name: "scripted", source: "option", isFallback: false }),
      },
    );
    const { body } = await send("POST", "/threads", {
      task: "Look",
      images: [{ type: "image/png", data: PIXEL }],
    });
    await settled(body.thread.id);
    expect(JSON.stringify(seen)).toContain(PIXEL);
  });
});
