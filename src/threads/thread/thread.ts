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
import { markMetadata, metadataMark } from "../../marks.ts";
import { isBudgetStop } from "../../middleware/budget/index.ts";
import { PROPOSED, readPlanState, rememberRemoved } from "../../middleware/plan/index.ts";
import { isFromUser } from "../../middleware/text/index.ts";
import { UNFINISHED } from "../../middleware/tools/index.ts";
import { withoutThoughts } from "../../models/index.ts";
import { isOpen, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import type { AcquireOptions, Release, ThreadStore } from "../../storage/index.ts";
import { wholeAnswer } from "../../subagents/index.ts";
import { isStateUnfinished } from "../events/index.ts";
import { mergedPlan, type PlanEdit, waitingEdit, waitingInput } from "../plan/index.ts";
import { type RunAgent, FORKS, type RunSettings } from "../prepare/index.ts";
import { readQuestion, type Question } from "../questions/index.ts";
import { NOT_BEGUN, NOT_FINISHED } from "./close-turn.prompt.ts";
import { CONTINUE } from "./continue.prompt.ts";
import { finishedTasks } from "./finished-tasks.ts";
import { openCalls, withTasks } from "./open-calls.ts";

const TOOLS = "tools";
const RULES = "planRules";
/** The mark of messages to the agent at work, in metadata that is not sent to providers. */
export interface ThreadContent {
  todos: Todo[];
  /** The conditions that hold for the whole plan. */
  rules: readonly string[];
  answer: string;
  /** The files in the thread's state, by path. */
  files: Record<string, string>;
}

/** The last exchange of a thread, and whether it is at work or stopped in the middle. */
export interface ThreadStatus {
  /** The user's last message, and the agent's answer to it. */
  asked?: string;
  answer?: string;
  /** Whether a process works on it. */
  isRunning: boolean;
  isStopped: boolean;
  isWaiting: boolean;
}

interface ForkedState {
  messages?: BaseMessage[];
  [FORKS]?: string[];
}

/** Releases a thread. `token` is the lease with which its run writes, if the checkpointer has leases. */
export type Hold = (() => Promise<void>) & Partial<Pick<Release, "token">>;

/** A thread with the agent that reads and writes it. */
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
   * Acquires the thread for this process, if the checkpointer has leases. Throws `thread-busy` if another process holds
   * it.
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
    // While a turn is running, the answer is that of the turn before it.
    const last = messages.findLastIndex(
      (message) => AIMessage.isInstance(message) && withoutThoughts(message.text).trim() !== "",
    );
    const { rules } = readPlanState(values);
    return {
      todos: withTasks(todos, openCalls(messages)),
      rules,
      answer: wholeAnswer(messages.slice(0, last + 1)),
      files,
    };
  }

  async status(): Promise<ThreadStatus> {
    const state = await this.state();
    const { messages = [] } = state.values as { messages?: BaseMessage[] };
    const last = messages.findLastIndex(isFromUser);
    const answer = messages.slice(last + 1).findLast((message) => AIMessage.isInstance(message));
    const index = this.#saver as Partial<Pick<ThreadStore, "getThread">>;
    const isRunning = (await index.getThread?.(this.id))?.state === "running";
    return {
      asked: messages[last]?.text,
      answer: answer && wholeAnswer(messages),
      isRunning,
      isStopped: state.tasks.length > 0 && !isRunning,
      isWaiting: (await this.questions(state)).length > 0,
    };
  }

  /**
   * The input that continues the thread: null if it stopped in the middle of a turn, a message if it ended with open items,
   * undefined if it is finished.
   */
  async nextInput(): Promise<string | null | undefined> {
    const state = await this.state();
    if (state.tasks.length > 0) return null;
    return isStateUnfinished(state) ? CONTINUE : undefined;
  }

  async todos(): Promise<Todo[]> {
    return (await this.plan()).todos;
  }

  /** The plan and its rules. Reads the whole state only if a step is due, as some of its tasks may have finished. */
  async plan(): Promise<Pick<ThreadContent, "todos" | "rules">> {
    const { channels } = this.agent.graph;
    const store = this.#saver as Partial<Pick<ThreadStore, "getValues">>;
    if (store.getValues && "todos" in channels) {
      const branches = Object.keys(channels).filter((name) => name.startsWith("branch:"));
      const names = ["todos", RULES, START, TASKS, ...branches];
      const { todos = [], [RULES]: rules = [], ...triggers } = await store.getValues(this.id, names);
      const isDue = Object.values(triggers).some((value) => !Array.isArray(value) || value.length > 0);
      if (!isDue) return { todos: todos as Todo[], rules: rules as string[] };
    }
    return this.content();
  }

  /**
   * Writes the user's edit of the plan, and returns the new plan; a waiting step keeps waiting. Throws `invalid-plan`, a
   * `PlanConflict`, `turn-unfinished` if the thread has to continue first, and `invalid-options` while a plan waits for
   * approval; then nothing is changed. `begin` is called with the plan before it is written, and may throw.
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
    // Normalized here: the channel stores its first value unchecked.
    const newRules = readRules(edit.rules);
    const rules = isDeepStrictEqual(newRules ?? plan.rules, plan.rules) ? undefined : newRules;
    // In the middle of a turn there must be no new checkpoint: the model would answer before the calls that are due.
    const isInTurn = state.tasks.length > 0;
    const write = isInTurn && hasNewTodos ? await waitingEdit(agent, state, todos) : undefined;
    const removed = rememberRemoved(plan, todos);
    await begin?.(todos);
    if (isInTurn) {
      await write?.();
      if (removed) await waitingInput(agent, state, ["_plan", removed]);
      if (rules) await waitingInput(agent, state, [RULES, rules]);
    } else if (hasNewTodos || rules) {
      const values = {
        ...(hasNewTodos && { todos }),
        ...(removed && { _plan: removed }),
        ...(rules && { [RULES]: rules }),
      };
      await agent.graph.updateState(this.config, values);
    }
    return todos;
  }

  /** Makes an open plan wait for approval. The thread must not be running. */
  async proposePlan(): Promise<void> {
    const state = await this.state();
    if (!readPlanState(state.values).todos.some(isOpen)) return;
    await this.#write(state, "_plan", PROPOSED);
  }

  /** Notes for the model that the thread is a copy up to here. */
  async noteFork(): Promise<void> {
    const state = await this.state();
    const { messages = [], [FORKS]: forks = [] } = state.values as ForkedState;
    const last = messages.at(-1)?.id;
    if (FORKS in this.agent.graph.channels && last !== undefined)
      await this.#write(state, FORKS, [...forks, last]);
  }

  /** Writes a state field. The thread must not be running; a waiting step keeps waiting. */
  async #write(state: StateSnapshot, field: string, value: unknown): Promise<void> {
    if (state.tasks.length > 0) await waitingInput(this.agent, state, [field, value]);
    else await this.agent.graph.updateState(this.config, { [field]: value });
  }

  /** Saves a new thread with its settings, at its end: there is nothing to continue. */
  async create(run: RunSettings): Promise<void> {
    await this.agent.graph.updateState(this.config, { run });
    await this.agent.graph.updateState(this.config, null, "__end__");
  }

  /** Changes the stored settings, for the next runs. Throws `thread-busy` while it runs. */
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
    const finishedIds = finishedTasks(writes);
    const interrupts = waiting
      .filter(({ id }) => !finishedIds.has(id))
      .flatMap((task) => task.interrupts.filter(({ value }) => !isOvertaken({ id: task.id, value }, writes)));
    return interrupts.filter(({ value }) => !isBudgetStop(value)).map(readQuestion);
  }

  /**
   * Ends the turn that the thread stopped in, before it gets a new message: new input makes LangGraph drop the results of a
   * step, even those of finished calls. Unfinished calls get an error as their result. In mode `plan` the open plan has to
   * be approved again, unless the message is `CONTINUE`. The caller holds the thread.
   */
  async closeTurn(message: string): Promise<void> {
    await this.#answerOpenCalls();
    if (this.agent.mode === "plan" && message !== CONTINUE) await this.proposePlan();
  }

  async #answerOpenCalls(): Promise<void> {
    const state = await this.state();
    if (!state.tasks.some(({ name }) => name === TOOLS)) return;
    const { messages = [] } = state.values as { messages?: BaseMessage[] };
    const askingIds = (await this.questions(state)).flatMap(({ kind, call, owner, repeated }) =>
      kind === "permission" && owner === undefined && !repeated ? [call?.call] : [],
    );
    const calls = openCalls(messages);
    const firstAsked = calls.findIndex(({ id }) => askingIds.includes(id));
    // A call that waits for consent has not run, nor have the calls behind it, except sub-agents.
    const isStarted = (at: number): boolean =>
      firstAsked < 0 || at < firstAsked || (calls[at]!.name === "task" && !askingIds.includes(calls[at]!.id));
    const answers = calls.map(
      ({ id = "", name }, at) =>
        new ToolMessage({
          content: isStarted(at) ? NOT_FINISHED : NOT_BEGUN,
          status: "error",
          name,
          tool_call_id: id,
          artifact: UNFINISHED,
        }),
    );
    await this.agent.graph.updateState(this.config, { messages: answers }, TOOLS);
  }

  /**
   * Adds a message to a thread that stopped between two steps, for its next model call. Throws `turn-unfinished` while
   * calls are due, as their results come first, and `run-ended` if no model call follows. `begin` is called before it is
   * written, and may throw.
   */
  async steer(
    content: MessageContent,
    { id = crypto.randomUUID(), begin }: { id?: string; begin?: () => Promise<void> } = {},
  ): Promise<void> {
    const state = await this.state();
    if (state.tasks.length === 0) {
      throw new HarnessError("run-ended", "The run has ended: give it as the next task.");
    }
    if (isCallDue(state)) {
      throw new HarnessError("turn-unfinished", `Calls of ${this.id} are running: their results come first.`);
    }
    // With an id, so that a repeated step does not add it twice.
    const message = new HumanMessage({ content, id });
    markMetadata(message, { steered: true });
    await begin?.();
    await waitingInput(this.agent, state, ["messages", [message]]);
  }
}

/** Whether a message was sent to the agent at work, and started no turn of its own. */
export function isSteered(message: BaseMessage): boolean {
  return metadataMark(message, "steered") === true;
}

function isCallDue({ values, tasks }: StateSnapshot): boolean {
  if (tasks.some(({ interrupts }) => interrupts.length > 0)) return true;
  const { messages = [] } = values as { messages?: BaseMessage[] };
  return openCalls(messages).length > 0;
}
