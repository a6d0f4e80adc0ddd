import type { AgentApp, AuthMethod, ClientCapabilities } from "@agentclientprotocol/sdk";
import { HarnessError } from "../../errors.ts";
import { INVALID_PARAMS, type Sdk } from "./sdk.ts";
import type { ConnectedEditor, Sessions } from "./session/sessions.ts";

export interface AcpOptions {
  sdk: Sdk;
  version: string;
  /** Opens what sessions take. Called for the first session: to say hello takes nothing of it. */
  open: (editor: ConnectedEditor) => Promise<Sessions>;
}

/** A request of an editor. */
interface Asked<Params> {
  params: Params;
  client: ConnectedEditor["client"];
  signal: AbortSignal;
}

/** The agent's side of a connection. */
export function acpApp({ sdk, version, open }: AcpOptions): { app: AgentApp; close: () => Promise<void> } {
  const { methods, RequestError } = sdk;
  let capabilities: ClientCapabilities = {};
  let opened: Promise<Sessions> | undefined;
  const sessions = (client: ConnectedEditor["client"]): Promise<Sessions> =>
    (opened ??= open({ sdk, client, capabilities }).catch((error: unknown) => {
      // What was wrong may be put right.
      opened = undefined;
      throw error;
    }));

  /**
   * Answers a request with the sessions of the connection. What a person did wrong is said in words; a model that cannot
   * be used has to be set up.
   */
  const by =
    <Params, Answer>(
      work: (all: Sessions, params: Params, signal: AbortSignal) => Answer | Promise<Answer>,
    ) =>
    async ({ params, client, signal }: Asked<Params>): Promise<Answer> => {
      try {
        return await work(await sessions(client), params, signal);
      } catch (error) {
        const known = HarnessError.from(error);
        if (!known) throw error;
        const { code, message } = known;
        if (SETUP.includes(code)) throw new RequestError(AUTH_REQUIRED, message, { code });
        throw new RequestError(INVALID.includes(code) ? INVALID_PARAMS : INTERNAL_ERROR, message, { code });
      }
    };

  const app = sdk
    .agent({ name: "holdfast" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: sdk.PROTOCOL_VERSION,
        agentInfo: { name: "holdfast", title: "Holdfast", version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
          _meta: { holdfast: { plan: PLAN_METHODS } },
        },
        authMethods: authMethods(capabilities),
      };
    })
    .onRequest(
      methods.agent.authenticate,
      by(async (all) => {
        await all.checkModel();
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.new,
      by((all, params) => all.create(params)),
    )
    .onRequest(
      methods.agent.session.load,
      by((all, params) => all.open(params.sessionId, params, { isTold: true })),
    )
    .onRequest(
      methods.agent.session.resume,
      by((all, params) => all.open(params.sessionId, params, { isTold: false })),
    )
    .onRequest(
      methods.agent.session.list,
      by((all, params) => all.list(params)),
    )
    .onRequest(
      methods.agent.session.delete,
      by(async (all, { sessionId }) => {
        await all.delete(sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.close,
      by(async (all, { sessionId }) => {
        await all.close(sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setMode,
      by((all, { sessionId, modeId }) => {
        all.setMode(sessionId, modeId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setConfigOption,
      by(async (all, { sessionId, configId, value }) => ({
        configOptions: await all.setOption(sessionId, configId, value),
      })),
    )
    .onRequest(
      methods.agent.session.prompt,
      by((all, { sessionId, prompt }, signal) => all.get(sessionId).prompt(prompt, signal)),
    )
    .onRequest(
      PLAN_METHODS.show,
      unread,
      by((all, params) => all.showPlan(params)),
    )
    .onRequest(
      PLAN_METHODS.edit,
      unread,
      by((all, params, signal) => all.editPlan(params, signal)),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      await (await opened)?.get(params.sessionId).cancel();
    });
  return { app, close: async () => (await opened?.catch(() => undefined))?.closeAll() };
}

const [AUTH_REQUIRED, INTERNAL_ERROR] = [-32_000, -32_603];

/** The protocol has no word of an editor for the plan: these are methods of our own. */
const PLAN_METHODS = { show: "_holdfast/plan/show", edit: "_holdfast/plan/edit" };
const unread = (params: unknown): unknown => params;

/** Errors that say how the agent was set up, and how it was asked. */
const SETUP: readonly string[] = ["no-model", "invalid-model", "missing-setting", "missing-package"];
const INVALID: readonly string[] = [
  "invalid-options",
  "invalid-request",
  "invalid-plan",
  "turn-unfinished",
  "thread-busy",
  "edit-withdrawn",
];

/** Ways to set up a model: a terminal command, if the editor can open one, or instructions. */
function authMethods({ auth }: ClientCapabilities): AuthMethod[] {
  const said = {
    id: "environment",
    name: "A model in the environment",
    description:
      "Set HOLDFAST_MODEL and the key of its provider where the editor is started; see holdfast doctor.",
  };
  if (!auth?.terminal) return [said];
  return [{ ...said, type: "terminal", id: "doctor", name: "Look what is missing", args: ["--setup"] }, said];
}
