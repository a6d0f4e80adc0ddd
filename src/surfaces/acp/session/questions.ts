import type { AgentContext, ClientCapabilities, PermissionOption } from "@agentclientprotocol/sdk";
import { offersFor, ruledCall } from "../../../threads/consent/index.ts";
import { planText } from "../../../threads/plan/index.ts";
import { readAnswer, type Question } from "../../../threads/questions/index.ts";
import { MAIN } from "../../../threads/view/index.ts";
import type { Editor } from "../editor.ts";
import type { Sdk } from "../sdk.ts";
import type { AskedCall, CallInfo, Calls } from "../updates/calls.ts";

export interface AskingOptions {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  session: string;
  calls: Calls;
  editor: Editor;
  /** Adds rules that allow calls from now on. */
  allow: (rules: readonly string[]) => void;
  /** The directory of the file tools. */
  dir: string;
  /** Shows text in the conversation. */
  say: (text: string) => void;
}

/** Asks the user at an editor a run's questions: in a form, or as options if the editor has no forms. */
export class Asking {
  readonly #options: AskingOptions;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Returns the answer; undefined if the user cancelled, or answers with the next prompt. */
  async ask(question: Question, signal: AbortSignal): Promise<unknown> {
    try {
      if (question.call) return await this.#permission({ ...question, call: question.call }, signal);
      return await (question.kind === "plan-approval"
        ? this.#approval(question, signal)
        : this.#words(question, signal));
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #permission(
    { call, repeated, notice, text }: Question & { call: NonNullable<Question["call"]> },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { calls, editor, allow, dir } = this.#options;
    const change = await editor.preview(call.name, call.args);
    const askedCall = calls.ask(call, { change, note: repeated || notice ? text : undefined });
    const offers = repeated ? [] : offersFor(call, ruledCall(call, dir).path);
    const options: PermissionOption[] = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      ...offers.map(({ label }, at) => ({
        optionId: at === 0 ? "always" : `always-${at + 1}`,
        name: `Always allow ${label}`,
        kind: "allow_always" as const,
      })),
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ];
    const choice = await this.#choose(askedCall, options, signal);
    if (choice === undefined) return undefined;
    const offer = offers[options.findIndex(({ optionId }) => optionId === choice) - 1];
    if (offer) allow(offer.rules);
    // An option that was not offered rejects.
    return { type: offer || choice === "allow" ? "approve" : "reject" };
  }

  async #approval(
    { id, text, error, todos = [], rules = [] }: Question,
    signal: AbortSignal,
  ): Promise<unknown> {
    const plan = planText(todos, rules);
    if (this.#hasForms) {
      const message = [text, plan, ...(error === undefined ? [] : [error])].join("\n");
      const content = await this.#form(message, { decision: DECISION, reason: REASON }, signal);
      if (content === undefined) return undefined;
      const reason = content["reason"]?.trim();
      if (content["decision"] === "approve") return { type: "approve" };
      return { type: "reject", message: reason || undefined };
    }
    const choice = await this.#option(
      { call: `plan-${id}`, name: "plan-approval", title: "Work on this plan?", note: plan },
      [
        { optionId: "approve", name: "Approve", kind: "allow_once" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
      signal,
    );
    if (choice === undefined) return undefined;
    return { type: choice === "approve" ? "approve" : "reject" };
  }

  async #words(question: Question, signal: AbortSignal): Promise<unknown> {
    const { id, text, options } = question;
    if (this.#hasForms) {
      const hint = options.length > 0 && { description: `${options.join(", ")}, or something else` };
      const field = { type: "string" as const, title: "Answer", ...hint };
      const content = await this.#form(text, { answer: field }, signal);
      return content && readAnswer(question, content["answer"] ?? "");
    }
    if (options.length > 0) {
      const choice = await this.#option(
        { call: `question-${id}`, name: "question", title: text },
        [
          ...options.map((name, at) => ({ optionId: String(at), name, kind: "allow_once" as const })),
          { optionId: "other", name: "Something else", kind: "reject_once" },
        ],
        signal,
      );
      if (choice === undefined) return undefined;
      const chosen = options.find((_, at) => String(at) === choice);
      if (chosen !== undefined) return readAnswer(question, chosen);
    }
    // The next prompt is the answer.
    this.#options.say(text);
    return undefined;
  }

  get #hasForms(): boolean {
    return Boolean(this.#options.capabilities.elicitation?.form);
  }

  /** Asks with a form whose first property is required. Returns its values; undefined if the user dismissed it. */
  async #form(
    message: string,
    properties: Record<string, { type: "string" }>,
    signal: AbortSignal,
  ): Promise<Record<string, string> | undefined> {
    const { sdk, client, session } = this.#options;
    const answer = await client.request(
      sdk.methods.client.elicitation.create,
      {
        sessionId: session,
        mode: "form",
        message,
        requestedSchema: { type: "object", properties, required: [Object.keys(properties)[0]!] },
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return answer.action === "accept" ? ((answer["content"] ?? {}) as Record<string, string>) : undefined;
  }

  /** Asks with options, as a tool call: an editor without forms shows no other questions. */
  async #option(
    { note, ...question }: Omit<CallInfo, "owner"> & { note?: string },
    options: PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { calls } = this.#options;
    const call = { owner: MAIN, ...question };
    const choice = await this.#choose(calls.ask(call, { note }), options, signal);
    const result = options.find(({ optionId }) => optionId === choice)?.name ?? "No answer.";
    calls.end({ ...call, ok: choice !== undefined, result });
    return choice;
  }

  async #choose(
    toolCall: AskedCall,
    options: PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { sdk, client, session } = this.#options;
    const { outcome } = await client.request(
      sdk.methods.client.session.requestPermission,
      { sessionId: session, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === "selected" ? outcome.optionId : undefined;
  }
}

const DECISION = {
  type: "string" as const,
  title: "Work on this plan?",
  oneOf: [
    { const: "approve", title: "Approve" },
    { const: "reject", title: "Reject" },
  ],
};
const REASON = { type: "string" as const, title: "Why not", description: "The agent reads this" };
