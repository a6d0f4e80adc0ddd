import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { isGraphInterrupt } from "@langchain/langgraph";
import { commandOutput, type CommandOutput } from "../../files/shell/index.ts";
import { hasAnswer, CallRecord, type Unended } from "../../langgraph/index.ts";
import {
  type RepeatOptions,
  type RepeatPolicy,
  policyOf,
  REPEAT_TEXTS,
  markRepetition,
  tellRepetition,
} from "../repeats/index.ts";
import { withNote, type CallResult } from "../tools/index.ts";
import type { ConsentRules } from "./rules.ts";

/** The most characters kept of the end of a stopped command's output. */
const MOST_PRINTED = 2000;

interface Request {
  toolCall: ToolCall;
  tool: unknown;
  runtime: { configurable?: Record<string, unknown>; signal?: AbortSignal };
}

interface Policies {
  /** The tools that wait for consent. */
  rules: Pick<ConsentRules, "has">;
  repeats: false | RepeatOptions | undefined;
}

/** A call with the record of its earlier starts. */
export class RecordedCall {
  readonly #call: ToolCall;
  readonly #policies: Policies;
  readonly #record: CallRecord | undefined;
  readonly #unended: Unended | undefined;
  /** The calls of the turn that the user was asked about, if this one has an answer. */
  readonly #consents: ReadonlySet<string>;
  /** The policy for a possible repetition; undefined for any other call. `consent`: it runs if it needs consent and gets it. */
  readonly policy: RepeatPolicy | "consent" | undefined;

  private constructor(
    call: ToolCall,
    policies: Policies,
    state: {
      record?: CallRecord;
      unended?: Unended;
      consents?: ReadonlySet<string>;
      policy?: RepeatPolicy;
    },
  ) {
    this.#call = call;
    this.#policies = policies;
    this.#record = state.record;
    this.#unended = state.unended;
    this.#consents = state.consents ?? new Set();
    this.policy = state.record && state.unended?.times ? (state.policy ?? "consent") : undefined;
  }

  static async find({ toolCall, tool, runtime }: Request, policies: Policies): Promise<RecordedCall> {
    const policy = policyIn(policies, toolCall.name, tool);
    const isHarmless = policy === "harmless";
    // A call that may ask needs the record, to know which other calls of its turn ask.
    const canBeAsked = policies.rules.has(toolCall.name) || hasAnswer(runtime.configurable);
    if (isHarmless && !canBeAsked) return new RecordedCall(toolCall, policies, {});
    const record = CallRecord.of(toolCall.id ?? "", runtime.configurable);
    const unended = await record?.unended();
    const consents = hasAnswer(runtime.configurable) ? unended?.consents : undefined;
    return new RecordedCall(toolCall, policies, {
      unended,
      consents,
      policy,
      ...(!isHarmless && { record }),
    });
  }

  /** The unended calls of its step, if this call may be a repetition. */
  get repeated(): Unended | undefined {
    return this.policy && this.#unended;
  }

  /**
   * Whether a call of the turn waits for the user regardless of the rules: it may be a repetition, or the user has
   * already decided about it, which a later rule does not overrule.
   */
  mustAsk({ id = "", name }: ToolCall): boolean {
    if (this.#consents.has(id)) return true;
    if (id === this.#call.id) return this.policy === "ask";
    return (this.#unended?.calls.has(id) ?? false) && policyIn(this.#policies, name) === "ask";
  }

  /** Saves that the call has started, then runs it. */
  async run<Call extends Request>(
    request: Call,
    { handler, wasAsked }: { handler: (request: Call) => Promise<CallResult>; wasAsked: boolean },
  ): Promise<CallResult> {
    const { toolCall, runtime } = request;
    await this.#record?.begin({ wasAsked });
    if (this.policy) {
      markRepetition(toolCall, runtime.configurable);
      await tellRepetition(toolCall);
    }
    const startedAt = Date.now();
    const output: CommandOutput = {};
    // Recorded on abort: when the call itself ends, its run may be over and cannot save anything.
    const stop = (): void => {
      const printed = output.printed?.().trim().slice(-MOST_PRINTED).toWellFormed();
      void this.#record?.stop({ ran: Date.now() - startedAt, ...(printed && { printed }) }).catch(() => {});
    };
    runtime.signal?.addEventListener("abort", stop, { once: true });
    try {
      const result = await commandOutput.run(output, () => handler(request));
      const isFailed = ToolMessage.isInstance(result) && result.status === "error";
      return this.policy && isFailed ? withNote(result, REPEAT_TEXTS.failed, toolCall.id ?? "") : result;
    } catch (error) {
      if (isGraphInterrupt(error)) await this.#record?.pause();
      throw error;
    } finally {
      runtime.signal?.removeEventListener("abort", stop);
    }
  }
}

/** The policy of a tool. Without `repeats` only tools that need consent have one. */
function policyIn({ rules, repeats }: Policies, name: string, tool?: unknown): RepeatPolicy | undefined {
  if (repeats === false || (!repeats && !rules.has(name))) return "harmless";
  return policyOf(name, tool, repeats ?? {});
}
