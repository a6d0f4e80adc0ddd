import type { AgentContext, ClientCapabilities, PermissionOption } from "@agentclientprotocol/sdk";
import { compileRule } from "../../../project/index.ts";
import { planText } from "../../../threads/plan/index.ts";
import { readAnswer, type Question } from "../../../threads/questions/index.ts";
import { MAIN } from "../../../threads/view/index.ts";
import type { Editor } from "../editor.ts";
import type { Sdk } from "../sdk.ts";
import type { AskedCall, Calls, ToldCall } from "../updates/calls.ts";

export interface AskingOptions {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  session: string;
  calls: Calls;
  editor: Editor;
  /** Allows calls like one from now on. */
  allow: (rule: string) => void;
  /** Says something in the conversation. */
  say: (text: string) => void;
}

/** Puts the questions of a run to the person at an editor: in a form, or as options where it has none. */
export class Asking {
  readonly #options: AskingOptions;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** A value to go on with. Undefined where the person has cancelled, or answers with the next prompt. */
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
    const { calls, editor, allow } = this.#options;
    const change = await editor.preview(call.name, call.args);
    const asked = calls.ask(call, { change, note: repeated || notice ? text : undefined });
    const rule = ruleFor(call);
    const options: PermissionOption[] = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      ...(rule === undefined
        ? []
        : [{ optionId: "always", name: `Always allow ${rule} here`, kind: "allow_always" as const }]),
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ];
    const choice = await this.#choose(asked, options, signal);
    if (choice === undefined) return undefined;
    const isForGood = choice === "always" && rule !== undefined;
    if (isForGood) allow(rule);
    // What was not offered is no yes.
    return { type: isForGood || choice === "allow" ? "approve" : "reject" };
  }

  async #approval(
    { id, text, error, todos = [], rules = [] }: Question,
    signal: AbortSignal,
  ): Promise<unknown> {
    const plan = planText(todos, rules);
    if (this.#hasForms) {
      const said = [text, plan, ...(error === undefined ? [] : [error])].join("\n");
      const content = await this.#form(said, { decision: DECISION, reason: REASON }, signal);
      if (content === undefined) return undefined;
      const reason = content["reason"]?.trim();
      if (content["decision"] === "approve") return { type: "approve" };
      return { type: "reject", ...(reason && { reason }) };
    }
    const asked = { call: `plan-${id}`, name: "plan-approval", title: "Work on this plan?", note: plan };
    const choice = await this.#option(
      asked,
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
      const title = "Answer";
      const field =
        options.length > 0
          ? { type: "string" as const, title, description: `${options.join(", ")}, or something else` }
          : { type: "string" as const, title };
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

  /** The values of a form; undefined if the person dismissed it. */
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

  /** A question as a call of its own: an editor without forms has nothing else to show it by. */
  async #option(
    { note, ...asked }: Omit<ToldCall, "owner"> & { note?: string },
    options: PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { calls } = this.#options;
    const told = { owner: MAIN, ...asked };
    const choice = await this.#choose(calls.ask(told, { note }), options, signal);
    const result = options.find(({ optionId }) => optionId === choice)?.name ?? "No answer.";
    calls.end({ ...told, ok: choice !== undefined, result });
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

/**
 * The rule that a yes for good adds: exactly this command, or any call of another tool. Undefined for a command that
 * no rule can name alone.
 */
function ruleFor({ name, args }: NonNullable<Question["call"]>): string | undefined {
  if (name !== "execute") return name;
  const command = String(args["command"]).trim();
  const rule = `${name}(${command})`;
  const isAlone = !command.includes("*") && compileRule(rule).allows({ tool: name, command });
  return isAlone ? rule : undefined;
}
