import { afterEach, beforeEach, expect, it } from "vitest";
import { task, TestCluster, until } from "./cluster/cluster.ts";
import { newDatabase } from "./postgres.ts";
import { collected } from "./served.ts";

let cluster: TestCluster;

beforeEach(async () => {
  cluster = await TestCluster.on(await newDatabase());
});
afterEach(() => cluster.close());

const begun = (call: string) => async () => (await cluster.effects()).find((one) => one.call === call);

/** What was done, as `call phase worker`, and `again` where the tool was told that it may have been done before. */
const history = async (thread: string): Promise<string[]> =>
  (await cluster.effects(thread)).map(({ call, phase, worker, again }) =>
    [call, phase, worker, ...(again ? ["again"] : [])].join(" "),
  );

it("after kill -9 or SIGSTOP of a worker another goes on: one call is repeated, and told so; who wakes up writes nothing and ends", async () => {
  const [client, one] = await Promise.all([cluster.server(), cluster.worker("one")]);
  const [killed, stopped] = [await client.threads.create(), await client.threads.create()];
  const first = await client.runs.create(killed.thread_id, "agent", {
    input: task({ id: "k", turns: 3, gates: { 1: "k" } }),
  });
  await until(begun("k-1"));
  const two = await cluster.worker("two");
  one.process.kill("SIGKILL");
  await until(async () =>
    (await cluster.effects()).find(({ call, worker }) => call === "k-1" && worker === "two"),
  );

  const second = await client.runs.create(stopped.thread_id, "agent", {
    input: task({ id: "s", turns: 3, gates: { 1: "s" } }),
  });
  await until(begun("s-1"));
  await cluster.worker("three");
  two.process.kill("SIGSTOP");
  await until(async () =>
    (await cluster.effects()).find(({ call, worker }) => call === "s-1" && worker === "three"),
  );
  two.process.kill("SIGCONT");
  expect(await two.ended).toBe(1);
  for (const gate of ["k", "s"]) await cluster.open(gate);
  await client.runs.join(killed.thread_id, first.run_id);
  await client.runs.join(stopped.thread_id, second.run_id);
  expect(await client.runs.get(stopped.thread_id, second.run_id)).toMatchObject({
    status: "success",
    attempt: 2,
  });
  expect(await history(stopped.thread_id)).toEqual([
    "s-0 begin two",
    "s-0 end two",
    "s-1 begin two",
    "s-1 begin three again",
    "s-1 end three again",
    "s-2 begin three",
    "s-2 end three",
  ]);
  const ends = (await history(killed.thread_id)).filter((line) => line.includes(" end "));
  expect(ends).toEqual(["k-0 end one", "k-1 end three again", "k-2 end three"]);
});

it("any server streams any run, and one that is asked later by number leaves nothing out", async () => {
  const [client, other] = await Promise.all([cluster.server(), cluster.server(), cluster.worker("one")]);
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, "agent", {
    input: task({ id: "r", turns: 2, gates: { 1: "g" } }),
  });
  await until(begun("r-1"));
  const half: { id?: string; event: string }[] = [];
  for await (const event of other.runs.joinStream(thread, run, {
    lastEventId: "0",
    streamMode: ["updates"],
  })) {
    half.push(event);
    if (half.length === 3) break;
  }
  await cluster.open("g");
  const modes = { streamMode: ["updates" as const] };
  const all = await collected(client.runs.joinStream(thread, run, { lastEventId: "0", ...modes }));
  const rest = await collected(other.runs.joinStream(thread, run, { lastEventId: half[2]!.id!, ...modes }));
  expect([...half, ...rest]).toEqual(all);
  expect(all[0]).toMatchObject({ event: "metadata", data: { run_id: run, attempt: 1 } });
  expect(all.filter(({ event }) => event === "updates").length).toBeGreaterThan(4);
  const third = await cluster.server();
  expect(await collected(third.runs.joinStream(thread, run, { lastEventId: "0", ...modes }))).toEqual(all);
  const state = await other.threads.getState<{ messages: { content: string }[] }>(thread);
  expect(state.values.messages.at(-1)?.content).toBe("done r");
});

it("SIGTERM ends a worker at the end of the step, and another goes on without repeating anything", async () => {
  const [client, one] = await Promise.all([cluster.server(), cluster.worker("one")]);
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, "agent", {
    input: task({ id: "d", turns: 3, gates: { 1: "d" } }),
  });
  await until(begun("d-1"));
  await cluster.worker("two");
  one.process.kill("SIGTERM");
  const isDraining = async () =>
    (await cluster.pool.query("SELECT 1 FROM holdfast.workers WHERE state = 'draining'")).rowCount === 1;
  await until(isDraining);
  await cluster.open("d");
  expect(await one.ended).toBe(0);
  await client.runs.join(thread, run);
  expect(await client.runs.get(thread, run)).toMatchObject({ status: "success", attempt: 1 });
  expect(await history(thread)).toEqual([
    "d-0 begin one",
    "d-0 end one",
    "d-1 begin one",
    "d-1 end one",
    "d-2 begin two",
    "d-2 end two",
  ]);
});
