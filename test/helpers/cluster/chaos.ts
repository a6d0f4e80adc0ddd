import type { ChildProcess } from "node:child_process";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import type { Client } from "@langchain/langgraph-sdk";
import { chance } from "../../../attack/attack.ts";
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
    await BLOWS[Math.floor(random() * BLOWS.length)]!(worker.process, proxies[at]!, random);
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

type Blow = (worker: ChildProcess, proxy: Proxy, random: () => number) => Promise<void>;

const BLOWS: readonly Blow[] = [
  async (worker) => void worker.kill("SIGKILL"),
  async (worker) => {
    worker.kill("SIGSTOP");
    await pause(3000);
    worker.kill("SIGCONT");
  },
  async (_worker, proxy, random) => {
    proxy.cut();
    await pause(random() * 4000);
    proxy.mend();
  },
  // Its clock goes an hour back, or is set right.
  async (worker) => void worker.kill("SIGUSR2"),
];

async function open(client: Client, started: readonly { thread: string; run: string }[]): Promise<number> {
  const all = await Promise.all(started.map(({ thread, run }) => client.runs.get(thread, run)));
  return all.filter(({ status }) => status === "pending" || status === "running").length;
}

/**
 * For every run one result, every call of it once in the history of its thread and in order; and of what really was
 * done, each call at least once, at most once without being told that it may have been done, and one more per takeover.
 */
async function problems(
  cluster: TestCluster,
  client: Client,
  started: readonly { thread: string; run: string; id: string }[],
  turns: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const thread of new Set(started.map((one) => one.thread))) {
    const runs = started.filter((one) => one.thread === thread);
    const wanted = runs.flatMap(({ id }) => {
      const calls = Array.from({ length: turns }, (_, turn) => [
        `call ${id}-${turn}`,
        `result ${id}-${turn}`,
      ]);
      return [`task ${id}`, ...calls.flat(), `done ${id}`];
    });
    const history = await historyOf(client, thread);
    if (history.join() !== wanted.join()) found.push(`${thread} has the history ${history.join(", ")}`);

    const effects = (await cluster.effects(thread)).filter(({ phase }) => phase === "begin");
    const firsts = [...new Set(effects.map(({ call }) => call))];
    if (
      firsts.join() !==
      wanted
        .filter((what) => what.startsWith("call "))
        .join()
        .replaceAll("call ", "")
    )
      found.push(`${thread} did ${firsts.join(", ")}`);
    for (const call of firsts) {
      const untold = effects.filter((one) => one.call === call && !one.again).length;
      if (untold > 1) found.push(`${call} was repeated and not told so`);
    }
    for (const { run, id } of runs) {
      const { status, attempt = 1 } = (await client.runs.get(thread, run)) as {
        status: string;
        attempt?: number;
      };
      if (status !== "success") found.push(`${id} ended as ${status}`);
      const repeated = effects.filter(({ call }) => call.startsWith(`${id}-`)).length - turns;
      if (repeated > attempt - 1) found.push(`${id} repeated ${repeated} calls in ${attempt} attempts`);
    }
  }
  return found;
}

interface Message {
  type: string;
  content: string;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}

/** What was asked for, called, returned and answered, one after the other. */
async function historyOf(client: Client, thread: string): Promise<string[]> {
  const { values } = await client.threads.getState<{ messages: Message[] }>(thread);
  return values.messages.flatMap(({ type, content, tool_calls: calls = [], tool_call_id: call }) => {
    if (type === "human") return `task ${(JSON.parse(content) as { id: string }).id}`;
    if (type === "tool") return `result ${call}`;
    return calls.length > 0 ? calls.map(({ id }) => `call ${id}`) : content;
  });
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
