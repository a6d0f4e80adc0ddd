import { PROVIDERS } from "../../../models/clients/providers.ts";
import { describeModels } from "../../../models/describe.ts";
import { openStore } from "../../../storage/store.ts";
import { localHost } from "../../../threads/host/threads-graph.ts";
import { RunServers } from "../../../threads/prepare/mcp-servers.ts";
import { modelFor } from "../../../threads/prepare/model.ts";
import type { PrepareOptions } from "../../../threads/prepare/prepare-run.ts";
import { pricesOf } from "../../../threads/prepare/prices.ts";
import { settledModel } from "../../../threads/prepare/project.ts";
import { tracesFrom } from "../../../threads/traces/index.ts";
import { Sessions, type ConnectedEditor } from "../../acp/session/sessions.ts";
import { settingsFrom } from "../commands/run.ts";
import type { ACP_FLAGS, FlagsOf } from "../options/command-options.ts";
import { harmless, shown } from "../output/harmless.ts";
import { projectIn } from "../run/project.ts";
import type { Terminal } from "../terminal.ts";
import { copiesFolder, statePath } from "../threads/threads.ts";

export type AcpFlags = FlagsOf<typeof ACP_FLAGS>;

/** Opens the sessions with an editor, by flags and environment, and returns a function that ends them. */
export async function openSessions(
  flags: AcpFlags,
  terminal: Terminal,
  editor: ConnectedEditor,
): Promise<{ sessions: Sessions; close: () => Promise<void> }> {
  const { env, stderr } = terminal;
  const defaults = { ...(await settingsFrom(flags, terminal, undefined)), shell: true };
  const path = statePath(flags, terminal);
  const saver = await openStore(path);
  const servers = new RunServers({
    env,
    onNote: (note) => void stderr.write(shown`holdfast: ${harmless(note)}\n`),
  });
  const modelOf: PrepareOptions["modelOf"] = (name) =>
    modelFor(name, { env, isWatched: true, timeout: flags.timeout });
  const projectOf = projectIn(env);
  const copies = copiesFolder(path);
  const traces = tracesFrom(env);
  const host = localHost({ saver, servers, defaults, modelOf, projectOf, copies, traces });
  const sessions = new Sessions(
    {
      host,
      saver,
      defaults,
      models: describeModels(env).flatMap(({ provider, installed, variables }) => {
        const { model } = PROVIDERS[provider]!;
        return installed && variables.length > 0 && model !== undefined ? [`${provider}:${model}`] : [];
      }),
      modelOf,
      modelIn: (project) => settledModel(project, env),
      projectOf,
      pricesOf: (model, { config }) => pricesOf(model, env, config),
    },
    editor,
  );
  return {
    sessions,
    close: async () => {
      await host.stop();
      await servers.close();
      await saver.close();
    },
  };
}
