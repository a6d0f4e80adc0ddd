import { spawn } from "node:child_process";
import { HarnessError } from "../../../errors.ts";
import { openProject } from "../../../project/index.ts";
import { isolationNotice } from "../../../runs/isolation.ts";
import { modelFor } from "../../../runs/model.ts";
import { pricesOf } from "../../../runs/prices.ts";
import { settledModel } from "../../../runs/project.ts";
import { RunServers } from "../../../runs/servers.ts";
import { openItems } from "../../../storage/store.ts";
import { listen } from "../../server/listen.ts";
import { createThreadsServer } from "../../server/threads-server.ts";
import { EXIT } from "../exit-codes.ts";
import { Interruption } from "../interruption.ts";
import { harmless, shown } from "../output/harmless.ts";
import { projectFor } from "../project.ts";
import type { Terminal } from "../terminal.ts";
import { statePath, withSaver } from "../threads.ts";
import { settingsFrom, type RunFlags } from "./run.ts";

export interface ServeFlags extends Omit<RunFlags, "task" | "thread" | "json" | "quiet"> {
  port: number;
  host: string;
  open?: boolean | undefined;
  token?: string | undefined;
  allowOrigin?: readonly string[] | undefined;
  allowHost?: readonly string[] | undefined;
}

/** `holdfast serve`: a page for people and LangGraph's protocol for programs, until Ctrl-C. */
export async function serve(flags: ServeFlags, terminal: Terminal): Promise<number> {
  const { stdout, stderr, env, cwd } = terminal;
  const token = flags.token ?? (env["HOLDFAST_TOKEN"] || undefined);
  const isOpen = !LOOPBACK.includes(flags.host);
  if (isOpen) checkToken(flags.host, token);
  const settings = await settingsFrom(flags, terminal, undefined);
  const { project, notice } = await projectFor(
    { ...settings, trustProject: flags.trustProject },
    terminal,
    {},
  );
  if (notice !== undefined) stderr.write(shown`holdfast: ${harmless(notice)}\n`);
  const model = settings.model ?? settledModel(project, env);
  const defaults = { ...settings, ...(model !== undefined && { model }) };
  const isolation = isolationNotice(defaults, project.config);
  const onNote = (note: string): void => void stderr.write(shown`holdfast: ${harmless(note)}\n`);
  const servers = new RunServers({ env, onNote });
  // What is wrong with their file is said now.
  await servers.of(defaults, project);
  const path = statePath(flags, terminal);
  return withSaver(path, async (saver) => {
    const store = await openItems(path);
    const server = await createThreadsServer({
      saver,
      store,
      cwd,
      defaults,
      modelOf: (name) => modelFor(name, { env, isWatched: true, timeout: flags.timeout }),
      servers,
      token,
      isOpen,
      hosts: [...(flags.allowHost ?? []), flags.host],
      origins: flags.allowOrigin,
      // Read for each run: what has changed since is heard, and what is no longer trusted is not.
      projectOf: ({ dir, project: use = true }) => openProject({ dir, env, use }),
      pricesOf: (name) => pricesOf(name, env, project.config),
    });
    const interruption = new Interruption(stdout, () => {});
    try {
      const { url, close } = await listen(server, { port: flags.port, hostname: flags.host });
      await server.recover();
      const address = `${url}/#token=${server.token ?? ""}`;
      stdout.write(shown`${harmless(address)}\n`);
      if (isolation !== undefined) stderr.write(shown`holdfast: ${harmless(isolation)}\n`);
      if (isOpen) stderr.write(shown`holdfast: ${harmless(OPEN_WARNING)}\n`);
      if (flags.open) openBrowser(address);
      await aborted(interruption.signal);
      stderr.write(shown`holdfast: stopping; nothing finished is lost. Ctrl-C again quits at once.\n`);
      await server.close();
      await close();
      return EXIT.done;
    } finally {
      await store.close();
      interruption.dispose();
      await servers.close();
    }
  });
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];

const OPEN_WARNING =
  "other machines can reach this, and everything is sent in the clear: put it behind TLS, such as a proxy with a certificate, and name its host with --allow-host.";

/** A token that nobody chose could be the only thing between a network and a shell. */
function checkToken(host: string, token: string | undefined): void {
  if (token !== undefined && token.length >= SHORTEST_TOKEN) return;
  const what =
    token === undefined
      ? "needs a token of your own"
      : `needs a token of ${SHORTEST_TOKEN} characters or more`;
  throw new HarnessError(
    "invalid-options",
    `--host ${host}: a server that other machines reach ${what}, in --token or HOLDFAST_TOKEN. It also needs TLS, such as a proxy with a certificate in front of it, whose name --allow-host says.`,
  );
}

const SHORTEST_TOKEN = 16;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Best effort: the address is on the screen anyway. */
function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["explorer"] : ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
