import { AIMessage, type BaseMessage, type HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { taskInputOf } from "../../../langgraph/index.ts";
import {
  diffTodos,
  isOpen,
  renderStatus,
  type Change,
  type Figures,
  type Todo,
} from "../../../plan/index.ts";
import { describeChanges, dueReminders, type Reminder, type Situation } from "../../../plan/presets/index.ts";
import { renderRules } from "../../../plan/render/index.ts";
import {
  type Mark,
  type Tally,
  isSame,
  NO_ITEM,
  withFigures,
  type Ledger,
  own,
} from "../../../plan/todo/index.ts";
import { saidByUser, hiddenMessage } from "../../text/index.ts";
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
import type { Answer } from "../messages/answer.ts";
import { repairCalls, UnreadCalls } from "../messages/broken-calls.ts";
import { isAwaitingUser, isFinalAnswer } from "../messages/final-answer.ts";
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
import type { ModelRequest } from "./request.ts";
import { enterRun, finishedCalls, hasPlanned, isPartDone } from "./run.ts";

/** The state of one model call of the graph. */
export class ModelStep {
  readonly state: PlanState;
  /** The todos in the graph state, where `state` has those of this call. */
  readonly #savedTodos: readonly Todo[];
  /** The items that this call has completed for sub-agents and started, before anything else. */
  readonly #started: Started | undefined;
  /** People's edits that the model has not been told. */
  readonly edits: Change[];
  /** Whether people changed the rules and the model has not been told. */
  readonly #hasNewRules: boolean;
  /** The messages that came from the model: another middleware may put a notice in their place. */
  readonly said = new WeakSet();
  readonly #setup: PlanSetup;
  readonly #configurable: ModelRequest["runtime"]["configurable"];
  readonly #savedMemory: PlanMemory;
  readonly #memory: PlanMemory;
  /** The messages in the graph state: what the request adds to them is not part of the conversation. */
  readonly #conversation: readonly BaseMessage[];
  /** The spending before this call. */
  readonly #before: Figures;
  readonly #run: string;
  /** The time of its start, and the milliseconds before it in which nothing ran in the thread. */
  readonly #began: { at: number; idle: number };
  /** The items' cost before this call; undefined if it is as it was saved. */
  readonly #ledger: Ledger | undefined;
  #tally: Tally;
  #exits: number;
  readonly #unread = new UnreadCalls();
  #sentReminders: Reminder["kind"][] = [];
  /** The answer's effect on the last item. */
  #completion: Completion | undefined;
  /** The effect of the reports in its work calls. */
  #reported: Reported | undefined;

  constructor(setup: PlanSetup, request: ModelRequest) {
    const state = readPlanState(request.state);
    this.#setup = setup;
    this.#configurable = request.runtime.configurable;
    this.#savedMemory = state.memory;
    const { messages } = request.state as { messages: BaseMessage[] };
    this.#conversation = messages;
    const { tally, at } = state.memory;
    this.#began = { at: setup.now(), idle: idleOf(setup, state.memory, lastTurn(messages)) };
    const counted = at === 0 ? sumTallies(tally, uncountedTally(messages)) : tally;
    this.#tally = { ...counted, toolCalls: counted.toolCalls + finishedCalls(messages, setup) };
    this.#before = figuresAt(this.#tally, this.#began);
    const memory = enterRun(state.memory, { messages, callsBefore: this.#before.toolCalls });
    const saved = { todos: state.todos, rules: state.rules ?? [], memory };
    this.#hasNewRules = saved.rules.join("\n") !== memory.rules && saved.todos.some(isOpen);
    this.#savedTodos = saved.todos;
    this.edits = unheardEdits(saved, request.messages, setup);
    this.#started = startNext(setup, saved, { now: this.#before, messages });
    const todos = this.#started?.todos ?? saved.todos;
    this.#run = memory.run;
    this.#ledger = this.#settled({ ...saved, memory: state.memory }, todos);
    this.#memory = {
      ...memory,
      ...(this.#ledger && { ledger: savedLedger(this.#ledger, []) }),
      tally: this.#tally,
      moves: {},
      helpers: keptHelpers(memory.helpers),
      marks: { ...memory.marks, ...this.#started?.marks },
    };
    const charged = this.#ledger ? withFigures(todos, this.#ledger, this.#began.at) : todos;
    this.state = { ...saved, todos: charged, memory: this.#memory };
    this.#exits = this.#memory.exits;
  }

  /** Shares out what was spent before this call, where the last turn gives a reason to. */
  #settled(state: PlanState, todos: readonly Todo[]): Ledger | undefined {
    const isNewRun = state.memory.run !== this.#run && !todos.some(isOpen);
    if (!isNewRun && !isDue({ ...state, todos })) return undefined;
    const ledger = settleTurn(state, { messages: this.#conversation, now: this.#before });
    const { [NO_ITEM]: rest, ...spent } = ledger.spent;
    // The plan of a new run is a new one: what was spent before it belongs to the last.
    const kept = rest && !isNewRun ? { ...spent, [NO_ITEM]: rest } : spent;
    return { ...ledger, spent: kept, active: activeItems(todos, state.memory) };
  }

  /** The messages with the reminders that are due at their end. */
  remind(messages: BaseMessage[]): BaseMessage[] {
    // After a person's edit what the model sees further up is not the plan any more, unless it was shown since.
    const visible = this.#sees(messages) && (!this.#memory.unseen || this.#isShown(messages));
    return this.#append(
      [...messages, ...this.#status()],
      [
        ...this.#rulesReminder(visible),
        ...dueReminders(this.#situation({ visible }), this.#setup.preset.reminders),
      ],
    );
  }

  /** Tells of rules that people changed, unless the whole plan is shown anyway. */
  #rulesReminder(isVisible: boolean): Reminder[] {
    const { edited, contextLoss, tag } = this.#setup.preset.reminders;
    if (!this.#hasNewRules || !edited || (!isVisible && contextLoss !== false)) return [];
    return [{ kind: "edited", name: edited.name, text: `<${tag}>${this.#rulesNews}</${tag}>` }];
  }

  get #rulesNews(): string {
    const { rules = [] } = this.state;
    return rules.length > 0
      ? `The user changed the rules of your plan.\n${renderRules(rules)}`
      : "The user took the rules off your plan.";
  }

  /** Shows the plan if another middleware took it out of the request after `remind` had seen it there. */
  remindIfTrimmed(messages: BaseMessage[]): BaseMessage[] {
    if (this.#sees(messages)) return messages;
    return this.#append(messages, this.#snapshot);
  }

  /** Repairs plan calls that are almost JSON, and asks once more for calls of which none can be run. */
  askAgain(answer: Answer): HumanMessage | undefined {
    if (!AIMessage.isInstance(answer)) return undefined;
    const { preset, toolNames } = this.#setup;
    repairCalls(answer, toolNames);
    const text = this.#unread.ask(answer);
    if (text === undefined) return undefined;
    const { tag } = preset.reminders;
    return hiddenMessage({ name: "tool_call_reminder", text: `<${tag}>${text}</${tag}>` });
  }

  /** Applies what the answer's work calls say is done. They go on without saying it. */
  async applyReports(
    answer: Answer,
    { turns, request }: { turns: Turns; request: ModelRequest },
  ): Promise<void> {
    if (!AIMessage.isInstance(answer)) return;
    const { toolNames: planTools, preset } = this.#setup;
    const reports = takeReports(answer, { tools: request.tools, planTools });
    if (reports.length === 0) return;
    const { seen } = this.#memory;
    const heard = this.edits.length > 0 ? rememberEdits(seen, this.state.todos) : undefined;
    this.#reported = await applyReports(turns, reports, {
      // As a plan call would find it in the step after this one.
      state: {
        ...taskInputOf(this.#configurable),
        todos: this.state.todos,
        messages: [...this.#conversation, answer],
        _plan: this.#memory,
      },
      now: this.#before,
      seen: mergeMemory(this.#memory, heard).seen,
      isUnseen: this.#isUnseen,
      isWriting: (answer.tool_calls ?? []).some(({ name }) => name === preset.tools.write.name),
      signal: request.runtime.signal,
    });
    keepReports(answer, this.#reported.reports);
  }

  /** Takes a final answer for the completion of the only item that is left, where the policy says so. */
  async completeLastItem(answer: Answer, signal: AbortSignal | undefined): Promise<void> {
    this.#completion = undefined;
    // A structured response cannot write state; and what was done before a person's edit may not be what it asks for.
    if (!AIMessage.isInstance(answer) || !this.#isExit(answer) || this.edits.length > 0) return;
    // One that is not the model's own object may be a copy of it: only a notice has no id either.
    if (!this.said.has(answer) && answer.id === undefined) return;
    this.#completion = await completeByAnswer(this.#setup, {
      answer,
      plan: this.state,
      tally: this.#now(),
      messages: this.#conversation,
      state: () => taskInputOf(this.#configurable),
      signal,
    });
  }

  /** The reminder that calls a model back that answered while items are open. */
  remindOfOpenItems(answer: Answer): HumanMessage | undefined {
    if (this.#completion?.ok || !this.#isExit(answer)) return undefined;
    const refusal = this.#completion?.issues.map((issue) => issue.message).join("\n");
    const situation = this.#situation({ answered: true, ...(refusal && { refusal }) });
    const [reminder] = dueReminders(situation, this.#setup.preset.reminders);
    if (!reminder) return undefined;
    this.#exits += 1;
    return hiddenMessage(reminder);
  }

  /** Counts an answer as it comes from the model, also one that another middleware sends back. */
  count(answer: object): void {
    this.said.add(answer);
    if (AIMessage.isInstance(answer)) this.#tally = sumTallies(this.#tally, tallyOf(answer));
  }

  #now(): Figures {
    return figuresAt(this.#tally, { at: this.#setup.now(), idle: this.#began.idle });
  }

  /** The agent's spending with its sub-agents, this call included. */
  get spent(): Tally {
    return sumTallies(this.#tally, helpedIn(this.#savedMemory));
  }

  /** Tells watchers what people changed, what was started or cost more, and what the answer reported or completed. */
  async announceChanges(stage: Stage): Promise<void> {
    const completed = this.#completion?.ok ? this.#completion : undefined;
    const figures = diffTodos(this.#started?.todos ?? this.#savedTodos, this.state.todos);
    const steps = [
      { by: "person", changes: this.edits, todos: this.#savedTodos },
      { by: "harness", changes: [...(this.#started?.changes ?? []), ...figures], todos: this.state.todos },
      { by: "model", ...this.#reported?.change },
      { by: "harness", ...completed },
    ] as const;
    for (const { by, changes = [], todos = [] } of steps) {
      if (changes.length > 0) await announce(this.#setup, stage, { by, changes, todos });
    }
  }

  /** Returns the answer, and with it what the middleware must remember, if it must. */
  finish(answer: Answer): AIMessage | Command {
    // A structured response ends the run, and LangChain takes it only as it is.
    if (!AIMessage.isInstance(answer)) return answer as unknown as AIMessage;
    this.#holdWords(answer);
    const calls = answer.tool_calls ?? [];
    const planned =
      this.#reported?.change !== undefined || calls.some((call) => this.#setup.toolNames.includes(call.name));
    const { stale } = this.#setup.preset.reminders;
    const counts = stale !== false && stale.withoutPlan && calls.length > 0;
    const limits = this.#limitCounts();
    const { startNext: isStartDue } = this.#memory;
    if (!planned && !counts && !isStartDue && this.edits.length === 0 && this.state.todos.length === 0) {
      return Object.keys(limits).length > 0 ? new Command({ update: limits }) : answer;
    }
    const memory = this.#memoryAfter({ planned, acted: calls.length > 0 });
    const changed = this.#change?.memory;
    const seen = { ...memory.seen, ...changed?.seen };
    const marks = { ...memory.marks, ...changed?.marks };
    const after = { ...memory, ...changed, seen, marks, ...this.#ledgerAfter() };
    const update = { _plan: changedFields(after, this.#savedMemory), ...this.#todosAfter(), ...limits };
    return new Command({ update });
  }

  /** The call's effect on the plan. */
  get #change(): PlanEffect | undefined {
    return this.#completion?.ok ? this.#completion : this.#reported?.change;
  }

  /** The ledger, where it is not as it was saved. What it holds of the last turn is forgotten elsewhere. */
  #ledgerAfter(): MemoryUpdate {
    const { moves, helpers } = this.#savedMemory;
    const change = this.#change;
    const ledger = change
      ? { ...change.ledger, active: activeItems(change.todos, this.#memory) }
      : this.#ledger;
    const gone = (entries: object): Record<string, null> =>
      Object.fromEntries(Object.keys(entries).map((id) => [id, null]));
    return {
      ...(ledger && { ledger: savedLedger(ledger, this.#savedTodos) }),
      moves: gone(moves),
      helpers: changedEntries(helpers, this.#memory.helpers),
    };
  }

  /** The list as this call leaves it, where it is not as it was. */
  #todosAfter(): { todos?: Todo[] } {
    const after = this.#change?.todos ?? this.state.todos;
    const changes = diffTodos(this.#savedTodos, after);
    return changes.length > 0 ? { todos: todosUpdate(after, changes) } : {};
  }

  /** Keeps the words about people's edits with the answer, for summaries of the conversation. */
  #holdWords(answer: AIMessage): void {
    const words = [
      ...(this.edits.length > 0 ? [`The user changed the plan: ${describeChanges(this.edits)}`] : []),
      ...(this.#hasNewRules ? [this.#rulesNews] : []),
    ];
    if (words.length === 0) return;
    answer.additional_kwargs = { ...answer.additional_kwargs, ...saidByUser(words.join("\n")) };
  }

  /** The plan's status after several `task` calls; a single one says it itself. */
  #status(): HumanMessage[] {
    if (!this.#started) return [];
    const { tag } = this.#setup.preset.reminders;
    return [
      hiddenMessage({ name: "todo_status", text: `<${tag}>${renderStatus(this.state.todos)}</${tag}>` }),
    ];
  }

  /** The model has not seen the plan as it is in anything that stays. */
  get #isUnseen(): boolean {
    const { unseen } = this.#memory;
    return unseen || this.#sentReminders.some((kind) => kind === "context-loss" || kind === "edited");
  }

  /** Whether these messages show the model what is open. */
  #sees(messages: readonly BaseMessage[]): boolean {
    return !this.state.todos.some(isOpen) || isPlanVisible(messages, this.#setup);
  }

  /** Whether a reminder that stays in the conversation shows the plan as it is. */
  #isShown(messages: readonly BaseMessage[]): boolean {
    return this.#snapshot.some(({ name, text }) =>
      messages.some((message) => message.name === name && message.text === text),
    );
  }

  /** The reminder that shows the plan, where there is one. */
  get #snapshot(): Reminder[] {
    const due = dueReminders(this.#situation({ visible: false }), this.#setup.preset.reminders);
    return due.filter(({ kind }) => kind === "context-loss");
  }

  #isExit(answer: Answer): boolean {
    if (AIMessage.isInstance(answer) && !isFinalAnswer(answer)) return false;
    if (this.#setup.conversation && !hasPlanned(this.#conversation, this.#setup)) return false;
    if (isPartDone(this.#conversation, { todos: this.state.todos, setup: this.#setup })) return false;
    return !isAwaitingUser(this.#conversation, this.#setup.askTools);
  }

  #memoryAfter({ planned, acted }: { planned: boolean; acted: boolean }): MemoryUpdate {
    const { run, callsBefore, rounds, nags, seen } = this.#memory;
    const isShown = this.#reported?.reports.some(({ showsPlan }) => showsPlan) ?? false;
    const nagged = this.#sentReminders.includes("stale") ? 1 : 0;
    return {
      run,
      callsBefore,
      tally: this.#tally,
      at: this.#setup.now(),
      took: this.#setup.now() - this.#began.at,
      idle: this.#began.idle,
      exits: this.#exits,
      rounds: planned ? 0 : rounds + (acted ? 1 : 0),
      nags: planned ? 0 : nags + nagged,
      unseen: this.#isUnseen && !isShown,
      startNext: false,
      ...(this.#started && rememberSeen(seen, this.state.todos)),
      ...(this.edits.length > 0 && rememberEdits(seen, this.state.todos)),
      ...(this.#hasNewRules && { rules: this.state.rules!.join("\n") }),
      marks: { ...this.#started?.marks, ...this.#missingMarks() },
    };
  }

  /** `modelCallLimitMiddleware` counts graph steps: calls that were repeated within this one are added to its count. */
  #limitCounts(): Record<string, number> {
    const repeated = this.#tally.modelCalls - this.#before.modelCalls - 1;
    if (repeated <= 0) return {};
    const counts = taskInputOf(this.#configurable);
    return Object.fromEntries(
      ["runModelCallCount", "threadModelCallCount"].flatMap((key) => {
        const count = counts[key];
        return typeof count === "number" ? [[key, count + repeated]] : [];
      }),
    );
  }

  /** Items that somebody else set in progress: the model's work on them is counted from here. */
  #missingMarks(): Record<string, Mark> {
    const { marks } = this.#memory;
    const started = this.state.todos.filter((todo) => todo.status === "in_progress" && !own(marks, todo.id));
    const { toolCalls } = this.#before;
    return Object.fromEntries(started.map((todo) => [todo.id, { toolCalls }]));
  }

  /** True where the model's last calls are work on what is in progress, and not the calls before once more. */
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
      rules: this.state.rules ?? [],
      visible: true,
      answered: false,
      edits: this.edits,
      rounds,
      nags,
      exits: this.#exits,
      busy: this.#isBusy,
      ...now,
    };
  }

  /** Appends reminders, and removes those of the same name that stayed in the conversation. */
  #append(messages: BaseMessage[], reminders: Reminder[]): BaseMessage[] {
    if (reminders.length === 0) return messages;
    this.#sentReminders.push(...reminders.map(({ kind }) => kind));
    const isOld = ({ name, additional_kwargs }: BaseMessage): boolean =>
      additional_kwargs["hide_from_ui"] === true && reminders.some((reminder) => reminder.name === name);
    return [...messages.filter((message) => !isOld(message)), ...reminders.map(hiddenMessage)];
  }
}

/** The changed part of an update: it is saved with every turn, and short values have no row of their own. */
function changedFields(update: MemoryUpdate, memory: PlanMemory): MemoryUpdate {
  const isNew = ([key, value]: [string, unknown]): boolean =>
    (RECORDS as readonly string[]).includes(key)
      ? Object.keys(value as object).length > 0
      : !isSame(memory[key as keyof PlanMemory], value);
  return Object.fromEntries(Object.entries(update).filter(isNew));
}
