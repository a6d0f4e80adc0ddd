import { AIMessage, type BaseMessage, type HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { taskInputOf } from "../../../langgraph/index.ts";
import { mark, markOf } from "../../../marks.ts";
import {
  diffTodos,
  isOpen,
  renderStatus,
  type Change,
  type Figures,
  type Todo,
} from "../../../plan/index.ts";
import { describeChanges, dueReminders, type Reminder, type Situation } from "../../../plan/presets/index.ts";
import { foreign, renderRules } from "../../../plan/render/index.ts";
import {
  type Mark,
  type Tally,
  isSame,
  isUnfinished,
  NO_ITEM,
  withFigures,
  type Ledger,
  own,
} from "../../../plan/todo/index.ts";
import { hiddenMessage } from "../../text/index.ts";
import { lastTurn } from "../../tools/index.ts";
import { announce } from "../announce.ts";
import type { Stage } from "../events.ts";
import {
  activeItems,
  figuresAt,
  helpedIn,
  idleOf,
  isDue,
  savedLedger,
  settleTurn,
  sumTallies,
  tallyOf,
  uncountedTally,
} from "../ledger.ts";
import type { ModelAnswer } from "../messages/answer.ts";
import { repairCalls, UnreadCalls } from "../messages/broken-calls.ts";
import { asksBack, isAwaitingUser, isFinalAnswer } from "../messages/final-answer.ts";
import { keepReports, takeReports } from "../messages/inline-argument.ts";
import { isPlanVisible } from "../messages/visibility.ts";
import { isWorkOnCurrent } from "../plan-call/evidence.ts";
import { changedEntries, type Turns } from "../plan-call/turn.ts";
import { completeByAnswer, type Completion, type PlanEffect } from "../reports/answer.ts";
import { applyReports, type Reported } from "../reports/inline.ts";
import { keptHelpers, startNext, type Started } from "../reports/start-next.ts";
import { rememberEdits, rememberSeen, unheardEdits } from "../seen.ts";
import type { PlanSetup } from "../setup.ts";
import {
  mergeMemory,
  readPlanState,
  RECORDS,
  todosUpdate,
  type MemoryUpdate,
  type PlanMemory,
  type PlanState,
} from "../state.ts";
import { sentBackIn } from "./called-back.ts";
import type { ModelRequest } from "./request.ts";
import { enterRun, finishedCalls, hasPlanned, isPartDone } from "./run.ts";

/** The state of one model call of the graph. */
export class ModelStep {
  readonly state: PlanState;
  /** The todos in the graph state; `state` has those of this call. */
  readonly #savedTodos: readonly Todo[];
  /** The items that this call first completed, after sub-agents ended, and the one that it started. */
  readonly #started: Started | undefined;
  /** Users' edits that the model does not know of. */
  readonly #edits: Change[];
  /** Whether users changed the rules and the model does not know. */
  readonly #hasNewRules: boolean;
  /** The messages that came from the model. Another middleware may replace one by a notice. */
  readonly #modelAnswers = new WeakSet();
  readonly #setup: PlanSetup;
  readonly #configurable: ModelRequest["runtime"]["configurable"];
  readonly #savedMemory: PlanMemory;
  readonly #memory: PlanMemory;
  /** The messages in the graph state, without those that the request adds. */
  readonly #conversation: readonly BaseMessage[];
  /** The spending before this call. */
  readonly #figuresBefore: Figures;
  /** The start of this call, and the idle time of the thread before it, in milliseconds. */
  readonly #start: { at: number; idle: number };
  /** The ledger before this call; undefined if it is the saved one. */
  readonly #ledger: Ledger | undefined;
  #tally: Tally;
  #exits: number;
  /** The text of the last answer that was returned to the model in this call. */
  #sentBack: string | undefined;
  readonly #unread = new UnreadCalls();
  #sentReminders: Reminder["kind"][] = [];
  /** The effect of a final answer on the last item. */
  #completion: Completion | undefined;
  /** The effect of the reports in the answer's work calls. */
  #reported: Reported | undefined;

  constructor(setup: PlanSetup, request: ModelRequest) {
    const state = readPlanState(request.state);
    this.#setup = setup;
    this.#configurable = request.runtime.configurable;
    this.#savedMemory = state.memory;
    const { messages } = request.state as { messages: BaseMessage[] };
    this.#conversation = messages;
    const { tally, at } = state.memory;
    this.#start = { at: setup.now(), idle: idleOf(setup, state.memory, lastTurn(messages)) };
    const tallyBefore = at === 0 ? sumTallies(tally, uncountedTally(messages)) : tally;
    this.#tally = { ...tallyBefore, toolCalls: tallyBefore.toolCalls + finishedCalls(messages, setup) };
    this.#figuresBefore = figuresAt(this.#tally, this.#start);
    const memory = enterRun(state.memory, { messages, callsBefore: this.#figuresBefore.toolCalls });
    const saved = { todos: state.todos, rules: state.rules, memory };
    this.#hasNewRules = saved.rules.join("\n") !== memory.rules && isUnfinished(saved.todos);
    this.#savedTodos = saved.todos;
    this.#edits = unheardEdits(saved, request.messages, setup);
    this.#started = startNext(setup, saved, { now: this.#figuresBefore, messages });
    const todos = this.#started?.todos ?? saved.todos;
    this.#ledger = this.#settle({ ...saved, memory: state.memory }, todos, memory.run);
    this.#memory = {
      ...memory,
      ...(this.#ledger && { ledger: savedLedger(this.#ledger, []) }),
      tally: this.#tally,
      moves: {},
      helpers: keptHelpers(memory.helpers),
      marks: { ...memory.marks, ...this.#started?.marks },
    };
    const todosNow = this.#ledger ? withFigures(todos, this.#ledger, this.#start.at) : todos;
    this.state = { ...saved, todos: todosNow, memory: this.#memory };
    this.#exits = this.#memory.exits;
  }

  /** Shares out the spending before this call, if the last turn requires it. `run`: the id of the current run. */
  #settle(state: PlanState, todos: readonly Todo[], run: string): Ledger | undefined {
    const isNewRun = state.memory.run !== run && !todos.some(isOpen);
    if (!isNewRun && !isDue({ ...state, todos })) return undefined;
    const ledger = settleTurn(state, { messages: this.#conversation, now: this.#figuresBefore });
    const { [NO_ITEM]: rest, ...spent } = ledger.spent;
    // A new run makes a new plan: spending before it belongs to the last one.
    const withRest = rest && !isNewRun ? { ...spent, [NO_ITEM]: rest } : spent;
    return { ...ledger, spent: withRest, active: activeItems(todos, state.memory) };
  }

  /** Appends the reminders that are due to the messages. */
  remind(messages: BaseMessage[]): BaseMessage[] {
    // After the user's edit an earlier message no longer shows the current plan, unless a later reminder does.
    const visible = this.#showPlan(messages) && (!this.#memory.unseen || this.#isShown(messages));
    return this.#append(
      [...messages, ...this.#status()],
      [
        ...this.#rulesReminder(visible),
        ...dueReminders(this.#situation({ visible }), this.#setup.preset.reminders),
      ],
    );
  }

  /** The reminder of rules that users changed, unless the whole plan is shown anyway. */
  #rulesReminder(isVisible: boolean): Reminder[] {
    const { edited, contextLoss, tag } = this.#setup.preset.reminders;
    if (!this.#hasNewRules || !edited || (!isVisible && contextLoss !== false)) return [];
    return [{ kind: "edited", name: edited.name, text: `<${tag}>${this.#rulesNews}</${tag}>` }];
  }

  get #rulesNews(): string {
    const { rules } = this.state;
    return rules.length > 0
      ? `The user changed the rules of your plan.\n${foreign(renderRules(rules))}`
      : "The user took the rules off your plan.";
  }

  /** Appends the plan if another middleware removed it from the request after `remind`. */
  remindIfTrimmed(messages: BaseMessage[]): BaseMessage[] {
    if (this.#showPlan(messages)) return messages;
    return this.#append(messages, this.#snapshot);
  }

  /** Repairs plan calls with broken JSON. Returns a message that asks again if no call of the answer can be run. */
  askAgain(answer: ModelAnswer): HumanMessage | undefined {
    if (!AIMessage.isInstance(answer)) return undefined;
    const { preset, toolNames } = this.#setup;
    repairCalls(answer, toolNames);
    const text = this.#unread.ask(answer);
    if (text === undefined) return undefined;
    const { tag } = preset.reminders;
    return hiddenMessage({ name: "tool_call_reminder", text: `<${tag}>${text}</${tag}>` });
  }

  /** Applies the completions that the answer's work calls report, and removes the reports from the calls. */
  async applyReports(
    answer: ModelAnswer,
    { turns, request }: { turns: Turns; request: ModelRequest },
  ): Promise<void> {
    if (!AIMessage.isInstance(answer)) return;
    const { toolNames: planTools, preset } = this.#setup;
    const reports = takeReports(answer, { tools: request.tools, planTools });
    if (reports.length === 0) return;
    const { seen } = this.#memory;
    const editMemory = this.#edits.length > 0 ? rememberEdits(seen, this.state.todos) : undefined;
    this.#reported = await applyReports(turns, reports, {
      // The state as a plan call would find it in the next step.
      state: {
        ...taskInputOf(this.#configurable),
        todos: this.state.todos,
        messages: [...this.#conversation, answer],
        _plan: this.#memory,
      },
      now: this.#figuresBefore,
      seen: mergeMemory(this.#memory, editMemory).seen,
      isUnseen: this.#isUnseen,
      isWriting: (answer.tool_calls ?? []).some(({ name }) => name === preset.tools.write.name),
      signal: request.runtime.signal,
    });
    keepReports(answer, this.#reported.reports);
  }

  /** Completes the only item that is left with a final answer, if the policy says so. */
  async completeLastItem(answer: ModelAnswer, signal: AbortSignal | undefined): Promise<void> {
    this.#completion = undefined;
    // A structured response cannot write state. After the user's edit, earlier work may not be what the plan now asks for.
    if (!AIMessage.isInstance(answer) || !this.#isExit(answer) || this.#edits.length > 0) return;
    // An answer that is not the model's own object may be a copy of it. A notice of another middleware has no id.
    if (!this.#modelAnswers.has(answer) && answer.id === undefined) return;
    this.#completion = await completeByAnswer(this.#setup, {
      answer,
      plan: this.state,
      tally: this.#now(),
      messages: this.#conversation,
      state: taskInputOf(this.#configurable),
      signal,
    });
  }

  /** The reminder that sends an answer back because items are open; undefined if the answer stands. */
  remindOfOpenItems(answer: ModelAnswer): HumanMessage | undefined {
    if (this.#completion?.ok || !this.#isExit(answer) || this.#asksAgain(answer)) return undefined;
    const refusal = this.#completion?.issues.map((issue) => issue.message).join("\n");
    const situation = this.#situation({ answered: true, ...(refusal && { refusal }) });
    const [reminder] = dueReminders(situation, this.#setup.preset.reminders);
    if (!reminder) return undefined;
    this.#exits += 1;
    this.#sentBack = AIMessage.isInstance(answer) ? answer.text : "";
    return hiddenMessage(reminder);
  }

  /** Whether an answer asks the user something, and so did the last one, which was returned to the model without progress since. */
  #asksAgain(answer: ModelAnswer): boolean {
    if (this.#exits === 0 || !AIMessage.isInstance(answer)) return false;
    return asksBack(answer.text) && asksBack(this.#sentBack ?? sentBackIn(this.#conversation));
  }

  /** Counts an answer of the model, also one that another middleware discards. */
  count(answer: object): void {
    this.#modelAnswers.add(answer);
    if (AIMessage.isInstance(answer)) this.#tally = sumTallies(this.#tally, tallyOf(answer));
  }

  #now(): Figures {
    return figuresAt(this.#tally, { at: this.#setup.now(), idle: this.#start.idle });
  }

  /** The spending of the agent and its sub-agents, including this call. */
  get spent(): Tally {
    return sumTallies(this.#tally, helpedIn(this.#savedMemory));
  }

  /** Announces users' edits, items started by the harness, new figures, and reported or completed items. */
  async announceChanges(stage: Stage): Promise<void> {
    const completed = this.#completion?.ok ? this.#completion : undefined;
    const figures = diffTodos(this.#started?.todos ?? this.#savedTodos, this.state.todos);
    const steps = [
      { by: "person", changes: this.#edits, todos: this.#savedTodos },
      { by: "harness", changes: [...(this.#started?.changes ?? []), ...figures], todos: this.state.todos },
      { by: "model", ...this.#reported?.change },
      { by: "harness", ...completed },
    ] as const;
    for (const { by, changes = [], todos = [] } of steps) {
      if (changes.length > 0) await announce(this.#setup, stage, { by, changes, todos });
    }
  }

  /** Returns the answer, with an update of the middleware's memory if one is needed. */
  finish(answer: ModelAnswer): AIMessage | Command {
    // A structured response ends the run, and LangChain accepts it only unchanged.
    if (!AIMessage.isInstance(answer)) return answer as unknown as AIMessage;
    this.#keepUserWords(answer);
    const calls = answer.tool_calls ?? [];
    const isPlanned =
      this.#reported?.change !== undefined || calls.some((call) => this.#setup.toolNames.includes(call.name));
    const { stale } = this.#setup.preset.reminders;
    const countsRounds = stale !== false && stale.withoutPlan && calls.length > 0;
    const limits = this.#limitCounts();
    const { startNext: isStartDue } = this.#memory;
    if (
      !isPlanned &&
      !countsRounds &&
      !isStartDue &&
      this.#edits.length === 0 &&
      this.state.todos.length === 0
    ) {
      return Object.keys(limits).length > 0 ? new Command({ update: limits }) : answer;
    }
    const memory = this.#memoryAfter({ isPlanned, hasCalls: calls.length > 0 });
    const changed = this.#change?.memory;
    const seen = { ...memory.seen, ...changed?.seen };
    const marks = { ...memory.marks, ...changed?.marks };
    const after = { ...memory, ...changed, seen, marks, ...this.#ledgerAfter() };
    const update = { _plan: changedFields(after, this.#savedMemory), ...this.#todosAfter(), ...limits };
    return new Command({ update });
  }

  /** The effect of this call on the plan. */
  get #change(): PlanEffect | undefined {
    return this.#completion?.ok ? this.#completion : this.#reported?.change;
  }

  /** The update of the ledger. Removes the moves and helpers of the last turn, which the ledger now includes. */
  #ledgerAfter(): MemoryUpdate {
    const { moves, helpers } = this.#savedMemory;
    const change = this.#change;
    const ledger = change
      ? { ...change.ledger, active: activeItems(change.todos, this.#memory) }
      : this.#ledger;
    return {
      ...(ledger && { ledger: savedLedger(ledger, this.#savedTodos) }),
      moves: changedEntries(moves, {}),
      helpers: changedEntries(helpers, this.#memory.helpers),
    };
  }

  /** The update of the list, if this call changes it. */
  #todosAfter(): { todos?: Todo[] } {
    const after = this.#change?.todos ?? this.state.todos;
    const changes = diffTodos(this.#savedTodos, after);
    return changes.length > 0 ? { todos: todosUpdate(after, changes) } : {};
  }

  /** Adds the words about users' edits to the answer's metadata, for summaries of the conversation. */
  #keepUserWords(answer: AIMessage): void {
    const words = [
      ...(this.#edits.length > 0 ? [`The user changed the plan: ${describeChanges(this.#edits)}`] : []),
      ...(this.#hasNewRules ? [this.#rulesNews] : []),
    ];
    if (words.length === 0) return;
    mark(answer, { user_said: words.join("\n") });
  }

  /** The plan's status after several `task` calls. The result of a single one contains it. */
  #status(): HumanMessage[] {
    if (!this.#started) return [];
    const { tag } = this.#setup.preset.reminders;
    return [
      hiddenMessage({ name: "todo_status", text: `<${tag}>${renderStatus(this.state.todos)}</${tag}>` }),
    ];
  }

  /** Whether no message that stays in the conversation shows the model the current plan. */
  get #isUnseen(): boolean {
    const { unseen } = this.#memory;
    return unseen || this.#sentReminders.some((kind) => kind === "context-loss" || kind === "edited");
  }

  /** Whether these messages show the model the plan, or it is finished. */
  #showPlan(messages: readonly BaseMessage[]): boolean {
    return !isUnfinished(this.state.todos) || isPlanVisible(messages, this.#setup);
  }

  /** Whether a reminder in the conversation shows the current plan. */
  #isShown(messages: readonly BaseMessage[]): boolean {
    return this.#snapshot.some(({ name, text }) =>
      messages.some((message) => message.name === name && message.text === text),
    );
  }

  /** The reminder that shows the plan, if the preset has one. */
  get #snapshot(): Reminder[] {
    const due = dueReminders(this.#situation({ visible: false }), this.#setup.preset.reminders);
    return due.filter(({ kind }) => kind === "context-loss");
  }

  #isExit(answer: ModelAnswer): boolean {
    if (AIMessage.isInstance(answer) && !isFinalAnswer(answer)) return false;
    if (this.#setup.conversation && !hasPlanned(this.#conversation, this.#setup)) return false;
    if (isPartDone(this.#conversation, { todos: this.state.todos, setup: this.#setup })) return false;
    return !isAwaitingUser(this.#conversation, this.#setup.askTools);
  }

  #memoryAfter({ isPlanned, hasCalls }: { isPlanned: boolean; hasCalls: boolean }): MemoryUpdate {
    const { run, callsBefore, rounds, nags, seen } = this.#memory;
    const isShown = this.#reported?.reports.some(({ showsPlan }) => showsPlan) ?? false;
    const sentNags = this.#sentReminders.includes("stale") ? 1 : 0;
    return {
      run,
      callsBefore,
      tally: this.#tally,
      at: this.#setup.now(),
      took: this.#setup.now() - this.#start.at,
      idle: this.#start.idle,
      exits: this.#exits,
      rounds: isPlanned ? 0 : rounds + (hasCalls ? 1 : 0),
      nags: isPlanned ? 0 : nags + sentNags,
      unseen: this.#isUnseen && !isShown,
      startNext: false,
      ...(this.#started && rememberSeen(seen, this.state.todos)),
      ...(this.#edits.length > 0 && rememberEdits(seen, this.state.todos)),
      ...(this.#hasNewRules && { rules: this.state.rules.join("\n") }),
      marks: { ...this.#started?.marks, ...this.#missingMarks() },
    };
  }

  /** Adds repeated calls to the counts of `modelCallLimitMiddleware`, which counts graph steps. */
  #limitCounts(): Record<string, number> {
    const repeatedCalls = this.#tally.modelCalls - this.#figuresBefore.modelCalls - 1;
    if (repeatedCalls <= 0) return {};
    const counts = taskInputOf(this.#configurable);
    return Object.fromEntries(
      ["runModelCallCount", "threadModelCallCount"].flatMap((key) => {
        const count = counts[key];
        return typeof count === "number" ? [[key, count + repeatedCalls]] : [];
      }),
    );
  }

  /** Marks for items that someone else set in progress: the model's work on them counts from here. */
  #missingMarks(): Record<string, Mark> {
    const { marks } = this.#memory;
    const started = this.state.todos.filter((todo) => todo.status === "in_progress" && !own(marks, todo.id));
    const { toolCalls } = this.#figuresBefore;
    return Object.fromEntries(started.map((todo) => [todo.id, { toolCalls }]));
  }

  /** Whether the model's last calls are work on an item in progress, and do not just repeat the calls before. */
  get #isBusy(): boolean {
    const [last, before] = this.#conversation.filter((message) => AIMessage.isInstance(message)).toReversed();
    return (last?.tool_calls ?? []).some(
      (call) =>
        isWorkOnCurrent(call, this.state.todos) &&
        !before?.tool_calls?.some(({ name, args }) => name === call.name && isSame(args, call.args)),
    );
  }

  #situation(now: Partial<Pick<Situation, "visible" | "answered" | "refusal">>): Situation {
    const { rounds, nags } = this.#memory;
    return {
      todos: this.state.todos,
      rules: this.state.rules,
      visible: true,
      answered: false,
      edits: this.#edits,
      rounds,
      nags,
      exits: this.#exits,
      busy: this.#isBusy,
      ...now,
    };
  }

  /** Appends reminders, and removes earlier ones of the same name. */
  #append(messages: BaseMessage[], reminders: Reminder[]): BaseMessage[] {
    if (reminders.length === 0) return messages;
    this.#sentReminders.push(...reminders.map(({ kind }) => kind));
    const isOld = (message: BaseMessage): boolean =>
      markOf(message, "hide_from_ui") === true && reminders.some(({ name }) => name === message.name);
    return [...messages.filter((message) => !isOld(message)), ...reminders.map(hiddenMessage)];
  }
}

/** The changed part of an update. Keeps checkpoints small, as the update is saved with every turn. */
function changedFields(update: MemoryUpdate, memory: PlanMemory): MemoryUpdate {
  const isNew = ([key, value]: [string, unknown]): boolean =>
    (RECORDS as readonly string[]).includes(key)
      ? Object.keys(value as object).length > 0
      : !isSame(memory[key as keyof PlanMemory], value);
  return Object.fromEntries(Object.entries(update).filter(isNew));
}
