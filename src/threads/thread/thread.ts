import { isDeepStrictEqual } from "node:util";
import {
  AIMessage,
  HumanMessage,
  ToolMessage,
  type BaseMessage,
  type MessageContent,
} from "@langchain/core/messages";
import { START, type BaseCheckpointSaver, type StateSnapshot } from "@langchain/langgraph";
import { TASKS } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import { isOvertaken, withPartedInterrupts } from "../../langgraph/index.ts";
import { isBudgetStop } from "../../middleware/budget/index.ts";
import { PROPOSED, readPlanState } from "../../middleware/plan/index.ts";
import { isFromUser } from "../../middleware/text/index.ts";
import { UNFINISHED } from "../../middleware/tools/index.ts";
import { withoutThoughts } from "../../models/index.ts";
import { isOpen, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import type { AcquireOptions, Release, ThreadStore } from "../../storage/index.ts";
import { isUnfinished } from "../events/index.ts";
import { mergedPlan, type PlanEdit, waitingEdit, waitingInput } from "../plan/index.ts";
import { type RunAgent, FORKS, type RunSettings } from "../prepare/index.ts";
import { readQuestion, type Question } from "../questions/index.ts";
import { NOT_BEGUN, NOT_FINISHED } from "./close-turn.prompt.ts";
import { CONTINUE } from "./continue.prompt.ts";
import { finishedTasks } from "./finished-tasks.ts";
import { openCalls, withTasks } from "./open-calls.ts";

const TOOLS = "tools";
const RULES = "planRules";
/** The mark of messages to the agent at work, in the metadata that no provider is sent. */
const STEERED = "steered";

/** The results of a thread so far. */
export interface ThreadContent {
  todos: Todo[];
  /** The conditions that hold for the whole plan. */
  rules: readonly string[];
  /** The agent's last words. */
  answer: string;
  /** The files that live in the thread, by path. */
  files: Record<string, string>;
}

/** The last exchange of a thread, and whether it stopped in the middle. */
export interface ThreadStatus {
  /** The user's last message, and the agent's answer to it. */
  asked?: string | undefined;
  answer?: string | undefined;
  isStopped: boolean;
  /** Whether a question is open. */
  isWaiting: boolean;
}

interface ForkedState {
  messages?: BaseMessage[];
  [FORKS]?: string[];
}

/** Releases a thread. `token` is the lease by which its run writes, where the checkpointer has leases. */
export type Hold = (() => Promise<void>) & Partial<Pick<Release, "token">>;

/** A thread, and the agent that reads and writes it. */
export class Thread {
  readonly agent: RunAgent;
  readonly id: string;

  constructor(agent: RunAgent, id: string) {
    this.agent = agent;
    this.id = id;
  }

  get config(): { configurable: { thread_id: string } } {
    return { configurable: { thread_id: this.id } };
  }

  get #saver(): BaseCheckpointSaver {
    return this.agent.graph.checkpointer as BaseCheckpointSaver;
  }

  /** The state at a checkpoint, by default the newest, with the results of tasks that have finished since then. */
  async state(checkpoint?: string): Promise<StateSnapshot> {
    const place = { thread_id: this.id, ...(checkpoint !== undefined && { checkpoint_id: checkpoint }) };
    return withPartedInterrupts(await this.agent.graph.getState({ configurable: place }));
  }

  /**
   * Acquires the thread for this process, where the checkpointer has leases. Throws `thread-busy` when another process
   * has it.
   */
  async acquire(options: AcquireOptions = {}): Promise<Hold> {
    const leasing = this.#saver as Partial<Pick<ThreadStore, "acquireThread">>;
    return (await leasing.acquireThread?.(this.id, options)) ?? (async () => {});
  }

  async content(): Promise<ThreadContent> {
    const { values } = await this.state();
    const {
      todos = [],
      messages = [],
      files = {},
    } = values as Partial<ThreadContent> & { messages?: BaseMessage[] };
    const last = messages.findLast(
      (message) => message.getType() === "ai" && withoutThoughts(message.text).trim() !== "",
    );
    const { rules = [] } = readPlanState(values);
    const shown = withTasks(todos, openCalls(messages));
    return { todos: shown, rules, answer: withoutThoughts(last?.text ?? ""), files };
  }

  async status(): Promise<ThreadStatus> {
    const state = await this.state();
    const { messages = [] } = state.values as { messages?: BaseMessage[] };
    const asked = messages.findLastIndex(isFromUser);
    const answer = messages.slice(asked + 1).findLast((message) => AIMessage.isInstance(message));
    return {
      asked: messages[asked]?.text,
      answer: answer && withoutThoughts(answer.text),
      isStopped: state.tasks.length > 0,
      isWaiting: (await this.questions(state)).length > 0,
    };
  }

  /**
   * The input that continues the thread: null where it stopped in the middle, words where it ended with open items,
   * undefined where it is finished.
   */
  async nextInput(): Promise<string | null | undefined> {
    const state = await this.state();
    if (state.tasks.length > 0) return null;
    return isUnfinished(state) ? CONTINUE : undefined;
  }

  async todos(): Promise<Todo[]> {
    return (await this.plan()).todos;
  }

  /** The plan and its rules. Reads the whole state only where a step is due, whose tasks may have finished. */
  async plan(): Promise<Pick<ThreadContent, "todos" | "rules">> {
    const { channels } = this.agent.graph;
    const store = this.#saver as Partial<Pick<ThreadStore, "getValues">>;
    if (store.getValues && "todos" in channels) {
      const branches = Object.keys(channels).filter((name) => name.startsWith("branch:"));
      const names = ["todos", RULES, START, TASKS, ...branches];
      const { todos = [], [RULES]: rules = [], ...due } = await store.getValues(this.id, names);
      const isDue = Object.values(due).some((value) => !Array.isArray(value) || value.length > 0);
      if (!isDue) return { todos: todos as Todo[], rules: rules as string[] };
    }
    return this.content();
  }

  /**
   * Writes a person's edit of the plan, and returns the plan with it; a step that waits keeps waiting. Throws
   * `invalid-plan`, a `PlanConflict`, `turn-unfinished` when the thread has to continue first, and `invalid-options`
   * while a plan waits for approval; changes nothing then. `begin` gets the plan before it is written, and may throw.
   */
  async writePlan(edit: PlanEdit, begin?: (todos: readonly Todo[]) => void | Promise<void>): Promise<Todo[]> {
    const { agent } = this;
    const state = await this.state();
    if ((await this.questions(state)).some(({ kind }) => kind === "plan-approval")) {
      const message = `A plan waits for approval in ${this.id}: that is answered first.`;
      throw new HarnessError("invalid-options", message);
    }
    const plan = readPlanState(state.values);
    const now = [...plan.todos];
    const todos = mergedPlan(agent, now, edit);
    const hasNewTodos = !isDeepStrictEqual(todos, now);
    // As the channel reads them: the first value of one is taken as it is.
    const wanted = readRules(edit.rules);
    const rules = isDeepStrictEqual(wanted ?? plan.rules, plan.rules) ? undefined : wanted;
    // A new checkpoint in the middle of a turn would let the model answer before the calls that are due.
    const isInTurn = state.tasks.length > 0;
    const write = isInTurn && hasNewTodos ? await waitingEdit(agent, state, todos) : undefined;
    await begin?.(todos);
    if (isInTurn) {
      await write?.();
      if (rules) await waitingInput(agent, state, [RULES, rules]);
    } else if (hasNewTodos || rules) {
      const values = { ...(hasNewTodos && { todos }), ...(rules && { [RULES]: rules }) };
      await agent.graph.updateState(this.config, values);
    }
    return todos;
  }

  /** Makes the open plan of a thread that is not running one that has to be approved. */
  async proposePlan(): Promise<void> {
    const state = await this.state();
    if (!readPlanState(state.values).todos.some(isOpen)) return;
    await this.#write(state, "_plan", PROPOSED);
  }

  /** Notes that the thread is another's copy up to here, for its model. */
  async noteFork(): Promise<void> {
    const state = await this.state();
    const { messages = [], [FORKS]: forks = [] } = state.values as ForkedState;
    const last = messages.at(-1)?.id;
    if (FORKS in this.agent.graph.channels && last !== undefined)
      await this.#write(state, FORKS, [...forks, last]);
  }

  /** Writes a field of a thread that is not running; a step that waits keeps waiting. */
  async #write(state: StateSnapshot, field: string, value: unknown): Promise<void> {
    if (state.tasks.length > 0) await waitingInput(this.agent, state, [field, value]);
    else await this.agent.graph.updateState(this.config, { [field]: value });
  }

  /** Saves a new thread with its settings. Nothing is left to do in it: nobody continues a thread in which nothing was said. */
  async create(run: RunSettings): Promise<void> {
    await this.agent.graph.updateState(this.config, { run });
    await this.agent.graph.updateState(this.config, null, "__end__");
  }

  /** Changes settings that the thread keeps, from its next run on. Throws `thread-busy` while it runs. */
  async changeSettings(change: Partial<RunSettings>): Promise<RunSettings> {
    const release = await this.acquire();
    try {
      const state = await this.state();
      const { run } = state.values as { run?: RunSettings };
      if (!run) throw new HarnessError("invalid-options", `${this.id} is a thread of another program.`);
      const settings = { ...run, ...change };
      await this.#write(state, "run", settings);
      if (settings.mode === "plan" && run.mode !== "plan") await this.proposePlan();
      return settings;
    } finally {
      await release();
    }
  }

  /** The open questions, in the order of the calls that ask. */
  async questions(state?: StateSnapshot): Promise<Question[]> {
    const { tasks, config } = state ?? (await this.state());
    const waiting = tasks.filter(({ interrupts }) => interrupts.length > 0);
    if (waiting.length === 0) return [];
    const writes = (await this.#saver.getTuple(config))?.pendingWrites ?? [];
    const finished = finishedTasks(writes);
    const interrupts = waiting
      .filter(({ id }) => !finished.has(id))
      .flatMap((task) => task.interrupts.filter(({ value }) => !isOvertaken({ id: task.id, value }, writes)));
    return interrupts.filter(({ value }) => !isBudgetStop(value)).map(readQuestion);
  }

  /**
   * Ends the turn that the thread stopped in, before it gets a new message: LangGraph drops the results of a step, also
   * those of finished calls, when other input comes. Answers the calls that have not finished. In mode `plan` the open
   * plan has to be approved again, unless the words only ask to go on. The caller holds the thread.
   */
  async closeTurn(words: string): Promise<void> {
    await this.#answerOpenCalls();
    if (this.agent.mode === "plan" && words !== CONTINUE) await this.proposePlan();
  }

  async #answerOpenCalls(): Promise<void> {
    const state = await this.state();
    if (!state.tasks.some(({ name }) => name === TOOLS)) return;
    const { messages = [] } = state.values as { messages?: BaseMessage[] };
    const asked = (await this.questions(state)).flatMap(({ kind, call, owner, repeated }) =>
      kind === "permission" && owner === undefined && !repeated ? [call?.call] : [],
    );
    const calls = openCalls(messages);
    const firstAsked = calls.findIndex(({ id }) => asked.includes(id));
    // Nobody has agreed to it, and the calls behind it wait for it, but for sub-agents.
    const isBegun = (at: number): boolean =>
      firstAsked < 0 || at < firstAsked || (calls[at]!.name === "task" && !asked.includes(calls[at]!.id));
    const answers = calls.map(
      ({ id = "", name }, at) =>
        new ToolMessage({
          content: isBegun(at) ? NOT_FINISHED : NOT_BEGUN,
          status: "error",
          name,
          tool_call_id: id,
          artifact: UNFINISHED,
        }),
    );
    await this.agent.graph.updateState(this.config, { messages: answers }, TOOLS);
  }

  /**
   * Adds a message to a thread that stopped between two steps: its next model call reads it. Throws `turn-unfinished`
   * while calls are due, as their results come first, and `run-ended` where no model call is to come.
   */
  async steer(words: MessageContent, id: string = crypto.randomUUID()): Promise<void> {
    const state = await this.state();
    if (state.tasks.length === 0) {
      throw new HarnessError("run-ended", "The run has ended: give it as the next task.");
    }
    if (isCallDue(state)) {
      throw new HarnessError(
        "turn-unfinished",
        `Calls of ${this.id} are under way: their results come first.`,
      );
    }
    // With an id of its own the message is the same one when the step is run again.
    const message = new HumanMessage({ content: words, id, response_metadata: { [STEERED]: true } });
    await waitingInput(this.agent, state, ["messages", [message]]);
  }
}

/** Whether a message reached the agent at work: it began no turn of its own. */
export function isSteered({ response_metadata: metadata }: BaseMessage): boolean {
  return metadata?.[STEERED] === true;
}

function isCallDue({ values, tasks }: StateSnapshot): boolean {
  if (tasks.some(({ interrupts }) => interrupts.length > 0)) return true;
  const { messages = [] } = values as { messages?: BaseMessage[] };
  return openCalls(messages).length > 0;
}
