import { PROVIDERS, describeModels } from "../../../../models/index.ts";
import { openStore } from "../../../../storage/open/index.ts";
import { localHost } from "../../../../threads/host/index.ts";
import {
  RunServers,
  modelFor,
  type PrepareOptions,
  settledModel,
} from "../../../../threads/prepare/index.ts";
import { tracesFrom } from "../../../../threads/traces/index.ts";
import { pricesOf } from "../../../../threads/view/index.ts";
import { Sessions, type ConnectedEditor } from "../../../acp/index.ts";
import type { ACP_FLAGS, FlagsOf } from "../../options/index.ts";
import { harmless, shown } from "../../output/index.ts";
import { projectIn } from "../../run/index.ts";
import type { Terminal } from "../../terminal.ts";
import { copiesFolder, statePath } from "../../threads/index.ts";
import { settingsFrom } from "../run.ts";

export type AcpFlags = FlagsOf<typeof ACP_FLAGS>;

/** Opens the sessions of an editor, and returns them with a function that closes them. */
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
