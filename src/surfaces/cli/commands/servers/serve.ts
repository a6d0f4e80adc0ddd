import { spawn } from "node:child_process";
import { hostPath, hostProgram } from "../../../../files/programs/index.ts";
import { Allowed } from "../../../../project/index.ts";
import { isDatabaseUrl, openItems } from "../../../../storage/open/index.ts";
import type { ClusterWorker } from "../../../../threads/cluster/index.ts";
import type { GuardOptions } from "../../../server/guard/index.ts";
import {
  hostedGraphs,
  listen,
  assemble,
  type AssembledServer,
  createThreadsServer,
  startThreadsWorker,
} from "../../../server/index.ts";
import { pageRoutes } from "../../../server/page/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { aborted, interruptible } from "../../interruption.ts";
import { limitsFrom, type WorkerFlags } from "../../options/index.ts";
import { harmless, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { copiesFolder, statePath, withHome } from "../../threads/index.ts";
import { refuse } from "../../wording.ts";
import { refuseOwnFlags } from "../run.ts";
import { loadGraphs } from "./graph-files.ts";
import { checkModel, exitLost, graphOptions, type AgentFlags } from "./worker.ts";

export interface ServeFlags extends AgentFlags, WorkerFlags {
  /** A file with the user's own graphs, instead of Holdfast's agent. */
  agent?: string;
  work: boolean;
  port: number;
  host: string;
  open?: boolean;
  token?: string;
  allowOrigin?: readonly string[];
  allowHost?: readonly string[];
}

/** `holdfast serve`: a page for users and LangGraph's protocol for programs, until Ctrl-C. */
export async function serve(flags: ServeFlags, terminal: Terminal): Promise<number> {
  const token = flags.token ?? (terminal.env["HOLDFAST_TOKEN"] || undefined);
  const isPublic = !LOOPBACK.includes(flags.host);
  if (isPublic) checkToken(flags.host, token);
  const hosts = [...(flags.allowHost ?? []), flags.host];
  const access = { token, isOpen: isPublic, hosts, origins: flags.allowOrigin };
  if (flags.agent !== undefined) return serveGraphs(flags.agent, { ...flags, access }, terminal);
  const limits = limitsFrom(flags.limit);
  const graph = await graphOptions(flags, terminal);
  const path = statePath(flags, terminal);
  if (flags.work && isDatabaseUrl(path)) await checkModel(graph);
  return withHome(path, async ({ saver, cluster }) => {
    // Runs of a cluster change files on the machine of their worker, so copies are not available here.
    const options = { ...graph, saver, copies: !cluster ? copiesFolder(path) : undefined };
    const store = cluster?.memories ?? (await openItems(path));
    const allow = (dir: string, rules: readonly string[]) => new Allowed(dir, terminal.env).add(rules);
    const server = await createThreadsServer({
      ...options,
      ...access,
      cluster,
      store,
      allow: cluster ? undefined : allow,
    });
    const worker =
      cluster && flags.work
        ? await startThreadsWorker(
            cluster,
            { ...options, slots: flags.slots, queues: flags.queues, limits },
            () => exitLost(terminal),
          )
        : undefined;
    try {
      return await listenUntilStopped({ server, worker, isOpen: isPublic }, flags, terminal);
    } finally {
      if (!cluster) await store.close();
      await graph.servers.close();
    }
  });
}

/** Serves the user's own graphs with the same page and protocol, and threads in the same store. */
async function serveGraphs(
  agent: string,
  { access, ...flags }: ServeFlags & { access: GuardOptions & { isOpen: boolean } },
  terminal: Terminal,
): Promise<number> {
  refuseOwnFlags(flags);
  const graphs = await loadGraphs(agent, terminal.cwd);
  const path = statePath(flags, terminal);
  return withHome(path, async ({ saver, cluster }) => {
    if (cluster) {
      const message =
        "Graphs of your own are served from a file: for a database use createServer and createWorker.";
      refuse(message);
    }
    const store = await openItems(path);
    const server = await assemble({
      ...access,
      graphs: hostedGraphs("holdfast serve", graphs, { checkpointer: saver, store }),
      checkpointer: saver,
      store,
      more: (parts) => pageRoutes(parts, { saver }),
    });
    try {
      return await listenUntilStopped({ server, worker: undefined, isOpen: access.isOpen }, flags, terminal);
    } finally {
      await store.close();
    }
  });
}

async function listenUntilStopped(
  { server, worker, isOpen }: { server: AssembledServer; worker: ClusterWorker | undefined; isOpen: boolean },
  flags: ServeFlags,
  { stdout, stderr }: Terminal,
): Promise<number> {
  let listening: Awaited<ReturnType<typeof listen>> | undefined;
  return interruptible(stdout, async (signal) => {
    try {
      listening = await listen(server, { port: flags.port, hostname: flags.host });
      await server.recover();
      const address = `${listening.url}/#token=${server.token ?? ""}`;
      stdout.write(shown`${harmless(address)}\n`);
      if (isOpen) stderr.write(shown`holdfast: ${harmless(OPEN_WARNING)}\n`);
      if (flags.open) openBrowser(address);
      await aborted(signal);
      stderr.write(shown`holdfast: stopping; nothing finished is lost. Ctrl-C again quits at once.\n`);
      return EXIT.done;
    } finally {
      await worker?.drain();
      await server.close();
      await listening?.close();
    }
  });
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];

const OPEN_WARNING =
  "other machines can reach this server, and traffic is not encrypted: put it behind TLS, such as a proxy with a certificate, and name its host with --allow-host.";

/** Throws `invalid-options` without a long token, which may be all that protects a shell from the network. */
function checkToken(host: string, token: string | undefined): void {
  if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) return;
  const problem =
    token === undefined
      ? "needs a token of your own"
      : `needs a token of ${MIN_TOKEN_LENGTH} characters or more`;
  refuse(
    `--host ${host}: a server that other machines reach ${problem}, in --token or HOLDFAST_TOKEN. It also needs TLS, such as a proxy with a certificate before it, whose name --allow-host says.`,
  );
}

const MIN_TOKEN_LENGTH = 16;

/** Opens the page. Ignores failures, as the address is printed anyway. */
function openBrowser(address: string): void {
  const program = hostProgram(
    process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open",
  );
  if (program === undefined) return;
  const env = { ...process.env, PATH: hostPath() };
  const child = spawn(program, [address], { stdio: "ignore", detached: true, env });
  child.on("error", () => {});
  child.unref();
}
