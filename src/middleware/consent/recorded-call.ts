import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { isGraphInterrupt, type Command } from "@langchain/langgraph";
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
import { withNote } from "../tools/index.ts";
import type { ConsentRules } from "./rules.ts";

/** The last characters of a stopped command's output, which are kept. */
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

/** A call with what is known of its beginnings. */
export class RecordedCall {
  readonly #call: ToolCall;
  readonly #policies: Policies;
  readonly #record: CallRecord | undefined;
  readonly #unended: Unended | undefined;
  /** The calls of the turn that a person was asked about, where this one has an answer. */
  readonly #consents: ReadonlySet<string>;
  /**
   * The policy for a call that may be a repetition; undefined for any other. `consent`: it runs if it needs consent
   * and gets it.
   */
  readonly policy: RepeatPolicy | "consent" | undefined;

  private constructor(
    call: ToolCall,
    policies: Policies,
    known: {
      record?: CallRecord | undefined;
      unended?: Unended | undefined;
      consents?: ReadonlySet<string> | undefined;
      policy?: RepeatPolicy | undefined;
    },
  ) {
    this.#call = call;
    this.#policies = policies;
    this.#record = known.record;
    this.#unended = known.unended;
    this.#consents = known.consents ?? new Set();
    this.policy = known.record && known.unended?.times ? (known.policy ?? "consent") : undefined;
  }

  static async find({ toolCall, tool, runtime }: Request, policies: Policies): Promise<RecordedCall> {
    const policy = policyIn(policies, toolCall.name, tool);
    const isHarmless = policy === "harmless";
    // Whoever asks has to know who else does.
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

  /** The unfinished calls of its step, if the call may be a repetition. */
  get repeated(): Unended | undefined {
    return this.policy && this.#unended;
  }

  /**
   * Whether a call of the turn waits for a person whatever the rules say: it may be a repetition, or the person has
   * decided about it, and a rule that came later does not overrule them.
   */
  mustAsk({ id = "", name }: ToolCall): boolean {
    if (this.#consents.has(id)) return true;
    if (id === this.#call.id) return this.policy === "ask";
    return (this.#unended?.calls.has(id) ?? false) && policyIn(this.#policies, name) === "ask";
  }

  /** Runs the call; that it has begun is saved first. */
  async run<Made extends Request>(
    request: Made,
    { handler, wasAsked }: { handler: (request: Made) => Promise<ToolMessage | Command>; wasAsked: boolean },
  ): Promise<ToolMessage | Command> {
    const { toolCall, runtime } = request;
    await this.#record?.begin({ wasAsked });
    if (this.policy) {
      markRepetition(toolCall, runtime.configurable);
      await tellRepetition(toolCall);
    }
    const began = Date.now();
    const output: CommandOutput = {};
    // At once: when the call itself has ended, its run may be over and nobody would hear of it.
    const stop = (): void => {
      const printed = output.printed?.().trim().slice(-MOST_PRINTED).toWellFormed();
      void this.#record?.stop({ ran: Date.now() - began, ...(printed && { printed }) }).catch(() => {});
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

/** Where nothing is said of repetitions, those matter that a person has to allow. */
function policyIn({ rules, repeats }: Policies, name: string, tool?: unknown): RepeatPolicy | undefined {
  if (repeats === false || (!repeats && !rules.has(name))) return "harmless";
  return policyOf(name, tool, repeats ?? {});
}
