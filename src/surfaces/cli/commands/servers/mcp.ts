import { localHost } from "../../../../threads/host/threads-graph.ts";
import { isolationNotice } from "../../../../threads/prepare/isolation.ts";
import { RunServers } from "../../../../threads/prepare/mcp-servers.ts";
import { modelFor } from "../../../../threads/prepare/model.ts";
import { pricesOf } from "../../../../threads/prepare/prices.ts";
import { settledModel } from "../../../../threads/prepare/project.ts";
import { tracesFrom } from "../../../../threads/traces/index.ts";
import { serveMcp } from "../../../mcp/index.ts";
import { ownOutput } from "../../editors/protocol-output.ts";
import { EXIT } from "../../exit-codes.ts";
import { Interruption } from "../../interruption.ts";
import { harmless, shown } from "../../output/harmless.ts";
import { projectFor, projectIn } from "../../run/project.ts";
import type { Terminal } from "../../terminal.ts";
import { statePath, withSaver } from "../../threads/threads.ts";
import { settingsFrom, type RunFlags } from "../run.ts";

export type McpFlags = Omit<RunFlags, "task" | "thread" | "json" | "quiet">;

/** `holdfast mcp`: threads as tools for other agents, over standard input and output, until the caller goes away. */
export async function mcp(flags: McpFlags, terminal: Terminal): Promise<number> {
  const { stdin, stderr, env, cwd } = terminal;
  const note = (text: string): void => void stderr.write(shown`holdfast: ${harmless(text)}\n`);
  const settings = await settingsFrom(flags, terminal, undefined);
  const { project, notice } = await projectFor({ ...settings, trustProject: flags.trustProject }, terminal, {
    json: true,
  });
  if (notice !== undefined) note(notice);
  const model = settings.model ?? settledModel(project, env);
  const defaults = { ...settings, ...(model !== undefined && { model }) };
  const isolation = isolationNotice(defaults, project.config);
  if (isolation !== undefined) note(isolation);
  const servers = new RunServers({ env, onNote: note });
  // What is wrong with their file is said now.
  await servers.of(defaults, project);
  const output = ownOutput(terminal);
  const interruption = new Interruption(terminal.stdout, () => {});
  return withSaver(statePath(flags, terminal), async (saver) => {
    const host = localHost({
      saver,
      defaults,
      cwd,
      modelOf: (name) => modelFor(name, { env, isWatched: false, timeout: flags.timeout }),
      servers,
      projectOf: projectIn(env),
      pricesOf: (name) => pricesOf(name, env, project.config),
      traces: tracesFrom(env),
    });
    try {
      await serveMcp({ host, saver }, { input: stdin, output, signal: interruption.signal });
      return EXIT.done;
    } finally {
      // Runs are stopped where nothing is lost.
      await host.stop();
      interruption.dispose();
      await servers.close();
    }
  });
}
