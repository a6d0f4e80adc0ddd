import type { AgentApp, AuthMethod, ClientCapabilities } from "@agentclientprotocol/sdk";
import { HarnessError } from "../../errors.ts";
import { INVALID_PARAMS, type Sdk } from "./sdk.ts";
import type { ConnectedEditor, Sessions } from "./session/sessions.ts";

export interface AcpOptions {
  sdk: Sdk;
  version: string;
  /** Opens the sessions. Called at the first request that needs them, not at `initialize`. */
  open: (editor: ConnectedEditor) => Promise<Sessions>;
}

interface EditorRequest<Params> {
  params: Params;
  client: ConnectedEditor["client"];
  signal: AbortSignal;
}

/** Creates the agent's side of a connection. */
export function acpApp({ sdk, version, open }: AcpOptions): { app: AgentApp; close: () => Promise<void> } {
  const { methods, RequestError } = sdk;
  let capabilities: ClientCapabilities = {};
  let sessions: Promise<Sessions> | undefined;
  const openOnce = (client: ConnectedEditor["client"]): Promise<Sessions> =>
    (sessions ??= open({ sdk, client, capabilities }).catch((error: unknown) => {
      // The next request tries again.
      sessions = undefined;
      throw error;
    }));

  /**
   * Creates a handler that works on the sessions. A `HarnessError` becomes a JSON-RPC error: with the code for
   * authentication if the model has to be set up.
   */
  const handle =
    <Params, Answer>(
      work: (all: Sessions, params: Params, signal: AbortSignal) => Answer | Promise<Answer>,
    ) =>
    async ({ params, client, signal }: EditorRequest<Params>): Promise<Answer> => {
      try {
        return await work(await openOnce(client), params, signal);
      } catch (error) {
        const harnessError = HarnessError.from(error);
        if (!harnessError) throw error;
        const { code, message } = harnessError;
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
      handle(async (all) => {
        await all.checkModel();
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.new,
      handle((all, params) => all.create(params)),
    )
    .onRequest(
      methods.agent.session.load,
      handle((all, params) => all.open(params.sessionId, params, { hasReplay: true })),
    )
    .onRequest(
      methods.agent.session.resume,
      handle((all, params) => all.open(params.sessionId, params, { hasReplay: false })),
    )
    .onRequest(
      methods.agent.session.list,
      handle((all, params) => all.list(params)),
    )
    .onRequest(
      methods.agent.session.delete,
      handle(async (all, { sessionId }) => {
        await all.delete(sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.close,
      handle(async (all, { sessionId }) => {
        await all.close(sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setMode,
      handle((all, { sessionId, modeId }) => {
        all.setMode(sessionId, modeId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setConfigOption,
      handle(async (all, { sessionId, configId, value }) => ({
        configOptions: await all.setOption(sessionId, configId, value),
      })),
    )
    .onRequest(
      methods.agent.session.prompt,
      handle((all, { sessionId, prompt }, signal) => all.get(sessionId).prompt(prompt, signal)),
    )
    .onRequest(
      PLAN_METHODS.show,
      unparsed,
      handle((all, params) => all.showPlan(params)),
    )
    .onRequest(
      PLAN_METHODS.edit,
      unparsed,
      handle((all, params, signal) => all.editPlan(params, signal)),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      await (await sessions)?.get(params.sessionId).cancel();
    });
  return { app, close: async () => (await sessions?.catch(() => undefined))?.closeAll() };
}

const [AUTH_REQUIRED, INTERNAL_ERROR] = [-32_000, -32_603];

/** Extension methods: the protocol has none with which an editor reads or edits the plan. */
const PLAN_METHODS = { show: "_holdfast/plan/show", edit: "_holdfast/plan/edit" };
const unparsed = (params: unknown): unknown => params;

const SETUP: readonly string[] = ["no-model", "invalid-model", "missing-setting", "missing-package"];
const INVALID: readonly string[] = [
  "invalid-options",
  "invalid-request",
  "invalid-plan",
  "turn-unfinished",
  "thread-busy",
  "edit-withdrawn",
];

/** Ways to set up a model: instructions, and a terminal command if the editor has terminals. */
function authMethods({ auth }: ClientCapabilities): AuthMethod[] {
  const environment = {
    id: "environment",
    name: "A model in the environment",
    description:
      "Set HOLDFAST_MODEL and the key of its provider where the editor is started; see holdfast doctor.",
  };
  if (!auth?.terminal) return [environment];
  const doctor = { id: "doctor", name: "Look what is missing", args: ["--setup"] };
  return [{ ...environment, ...doctor, type: "terminal" }, environment];
}
