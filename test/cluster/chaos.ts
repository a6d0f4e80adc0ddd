import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import type { Client } from "@langchain/langgraph-sdk";
import { chance } from "../../attack/attack.ts";
import { task, until, type Started, type TestCluster } from "./cluster.ts";

export interface ChaosOptions {
  threads: number;
  runsPerThread: number;
  turns: number;
  /** How often something is done to a worker. */
  blows: number;
  seed: number;
}

/** What was found wrong: nothing, if all holds. */
export async function chaos(cluster: TestCluster, options: ChaosOptions): Promise<string[]> {
  const { threads: count, runsPerThread, turns, blows, seed } = options;
  const random = chance(seed);
  const client = await cluster.server();
  const proxies = await Promise.all([proxyTo(cluster.url), proxyTo(cluster.url)]);
  let born = 0;
  // A supervisor: what ends is started again, also where it ends before it is ready.
  const start = (at: number): Promise<Started> => {
    born += 1;
    return cluster.worker(`w${born}`, { DATABASE: proxies[at]!.url }).catch(() => start(at));
  };
  const workers = await Promise.all(proxies.map((_, at) => start(at)));
  const started: { thread: string; run: string; id: string }[] = [];
  for (let at = 0; at < count; at += 1) {
    const { thread_id: thread } = await client.threads.create();
    for (let run = 0; run < runsPerThread; run += 1) {
      const id = `t${at}r${run}`;
      const input = task({ id, turns, pause: 40 });
      const { run_id } = await client.runs.create(thread, "agent", { input, multitaskStrategy: "enqueue" });
      started.push({ thread, run: run_id, id });
    }
  }
  for (let blow = 0; blow < blows; blow += 1) {
    await pause(300 + random() * 700);
    const at = Math.floor(random() * workers.length);
    const worker = workers[at]!;
    const kind = Math.floor(random() * 3);
    if (kind === 0) worker.process.kill("SIGKILL");
    else if (kind === 1) {
      worker.process.kill("SIGSTOP");
      await pause(3000);
      worker.process.kill("SIGCONT");
    } else {
      proxies[at]!.cut();
      await pause(random() * 4000);
      proxies[at]!.mend();
    }
    if (await hasEnded(worker)) workers[at] = await start(at);
  }
  // One who finds out later that it was taken for dead ends later.
  const watch = setInterval(() => {
    for (const [at, { process: child }] of workers.entries()) {
      if (child.exitCode !== null) void start(at).then((fresh) => (workers[at] = fresh));
    }
  }, 5000);
  try {
    await until(async () => (await open(client, started)) === 0);
  } finally {
    clearInterval(watch);
    for (const { close } of proxies) close();
  }
  return problems(cluster, client, started, turns);
}

async function open(client: Client, started: readonly { thread: string; run: string }[]): Promise<number> {
  const all = await Promise.all(started.map(({ thread, run }) => client.runs.get(thread, run)));
  return all.filter(({ status }) => status === "pending" || status === "running").length;
}

/** For every run one result, and every call done: twice at most with each takeover, and then told so. */
async function problems(
  cluster: TestCluster,
  client: Client,
  started: readonly { thread: string; run: string; id: string }[],
  turns: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const { thread, run, id } of started) {
    const { status, attempt } = (await client.runs.get(thread, run)) as { status: string; attempt?: number };
    if (status !== "success") found.push(`${id} ended as ${status}`);
    const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(
      thread,
    );
    const answers = values.messages.filter(({ type, content }) => type === "ai" && content === `done ${id}`);
    if (answers.length !== 1) found.push(`${id} has ${answers.length} results`);
    const effects = await cluster.effects(thread);
    for (let turn = 0; turn < turns; turn += 1) {
      const begun = effects.filter(({ call, phase }) => call === `${id}-${turn}` && phase === "begin");
      if (begun.length === 0) found.push(`${id}-${turn} was never done`);
      // One that was stopped just before it began may begin after the one that took its place, and knew.
      if (begun.filter(({ again }) => !again).length > 1)
        found.push(`${id}-${turn} was repeated and not told so`);
    }
    const begins = effects.filter(({ call, phase }) => call.startsWith(`${id}-`) && phase === "begin").length;
    if (begins - turns > (attempt ?? 1) - 1)
      found.push(`${id} repeated ${begins - turns} calls in ${attempt} attempts`);
  }
  const order = started.map(({ id }) => id);
  const firsts = (await cluster.effects()).filter(
    ({ call, phase }) => phase === "begin" && call.endsWith("-0"),
  );
  const seen = new Map<string, number>();
  for (const { thread, call } of firsts) {
    const place = order.indexOf(call.slice(0, -2));
    if (place < (seen.get(thread) ?? -1)) found.push(`${call} was begun after a later run of its thread`);
    seen.set(thread, Math.max(place, seen.get(thread) ?? -1));
  }
  return found;
}

async function hasEnded({ process: child }: Started): Promise<boolean> {
  await pause(50);
  return child.exitCode !== null || child.signalCode !== null;
}

interface Proxy {
  url: string;
  /** Nothing goes through any more, and nobody is told. */
  cut: () => void;
  mend: () => void;
  close: () => void;
}

/** A way to the database that can be cut. */
async function proxyTo(database: string): Promise<Proxy> {
  const url = new URL(database);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(url.port), url.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => to.destroy());
      from.on("data", (bytes) => to.write(bytes));
      if (isCut) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = new URL(database);
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend: () => {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
