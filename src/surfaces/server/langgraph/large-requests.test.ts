import { afterEach, beforeEach, expect, it } from "vitest";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";
import { mapInTurns } from "../http/index.ts";

let served: Served;

beforeEach(async () => {
  const model = new ScriptedModel(["Hello."], { loop: true });
  served = await serve({ agent: createDeepAgent({ model, plan: false }) });
});
afterEach(() => served.close());

const names = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);
const fields = (count: number) => Object.fromEntries(names(count).map((name) => [name, 1]));

const LONG = "x".repeat(4_000_000);

async function post(path: string, body: unknown): Promise<{ status: number; message: string | undefined }> {
  const { status, body: answer } = await served.send("POST", path, body);
  const { message } = answer as { message?: string };
  return { status, message };
}

it.each([
  ["/threads/search", { ids: names(1001) }, "ids has more than 1000 entries."],
  ["/threads/count", { ids: names(1001) }, "ids has more than 1000 entries."],
  ["/threads/prune", { thread_ids: names(1001) }, "thread_ids has more than 1000 entries."],
  ["/threads/search", { ids: names(60_000) }, "The body has more than 50000 values."],
  ["/runs/batch", names(1001).map(() => ({})), "The body has more than 1000 entries."],
  ["/runs/cancel", { run_ids: names(1001) }, "run_ids has more than 1000 entries."],
  ["/threads", { metadata: fields(1001) }, "metadata has more than 1000 values."],
  ["/threads", { metadata: { a: [names(1001)] } }, "metadata has more than 1000 values."],
  ["/threads/search", { metadata: fields(1001) }, "metadata has more than 1000 values."],
  ["/runs/crons/search", { metadata: fields(1001) }, "metadata has more than 1000 values."],
  ["/assistants/search", { metadata: fields(1001) }, "metadata has more than 1000 values."],
  ["/threads", { metadata: { a: LONG } }, "metadata has more than 100000 characters."],
  ["/threads", { metadata: { [LONG]: 1 } }, "metadata has more than 100000 characters."],
  ["/threads/search", { metadata: { a: [{ b: LONG }] } }, "metadata has more than 100000 characters."],
  ["/threads", { thread_id: LONG }, "An id has more than 255 characters."],
  ["/threads/search", { ids: ["a", LONG] }, "An id has more than 255 characters."],
  ["/threads/prune", { thread_ids: ["a".repeat(256)] }, "An id has more than 255 characters."],
  ["/runs/cancel", { run_ids: [LONG] }, "An id has more than 255 characters."],
  ["/runs/wait", { assistant_id: LONG }, "An id has more than 255 characters."],
  ["/threads", { metadata: fields(400_000) }, "The body has more than 50000 values."],
])("%s refuses a list or an object that is too long: %#", async (path, body, message) => {
  expect(await post(path, body)).toEqual({ status: 422, message });
});

it("a body's text counts as one value, with any characters", async () => {
  const text = '[{,\\"'.repeat(8000);
  expect(await post("/threads", { metadata: { [text]: text } })).toEqual({ status: 200 });
  const id = "a".repeat(255);
  expect(await post("/threads/search", { ids: [id] })).toMatchObject({ status: 200 });
});

it("a prune takes a full-length list, and names a missing thread before any removal", async () => {
  expect(await post("/threads", { thread_id: "t0" })).toEqual({ status: 200 });
  const ids = names(1000);
  expect(await post("/threads/prune", { thread_ids: ids })).toMatchObject({ status: 404 });
  expect(await post("/threads/prune", { thread_ids: ["t0", "t0"] })).toEqual({ status: 200 });
});

it("long work on a list lets other work run in between", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const wait = (ms: number): void => {
    for (const end = performance.now() + ms; performance.now() < end;);
  };
  const doubled = await mapInTurns([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17], (one) => {
    wait(5);
    return one * 2;
  });
  clearInterval(timer);
  expect(doubled.at(-1)).toBe(34);
  expect(turns).toBeGreaterThan(0);
});
