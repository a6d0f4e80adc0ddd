import { attempt } from "../../../src/errors.ts";
import type { Todo } from "../../../src/plan/todo/todo.ts";
import { PLAN_SAYS } from "../../../src/threads/edit/plan-command.ts";
import { planOf, rulesOf, threadOf } from "../../../src/threads/log/thread.ts";
import { ApiError } from "../client/api.ts";
import type { SentAnswer, Checkpoint, SentPlan, SentTask, Settings } from "../client/contract.ts";
import { questionDraft } from "./drafts.ts";
import type { PageStore } from "./page-store.ts";
import { withThread } from "./state.ts";

/** Opens a thread, or the form for a new one, by the URL, so that it can be bookmarked. */
export function goTo(id: string | undefined): void {
  location.hash = id === undefined ? "#/" : `#/t/${encodeURIComponent(id)}`;
}

/** The id of the thread in the URL. */
export function addressedThread(): string | undefined {
  const [, id] = /^#\/t\/(.+)$/.exec(location.hash) ?? [];
  return id === undefined ? undefined : attempt(() => decodeURIComponent(id));
}

/** Sends a task to the open thread, else to a new one. Returns whether the server accepted it. */
export async function giveTask(store: PageStore, task: SentTask, settings: Settings): Promise<boolean> {
  const { open } = store.state;
  const isAccepted = await store.attempt(async () => {
    if (open !== undefined) {
      const { queued } = await store.api.run(open, task);
      store.set(
        queued
          ? { notes: ["Queued: the task begins when the agent has finished."] }
          : { message: "The task was given." },
      );
      return true;
    }
    const { thread } = await store.api.create(task, settings);
    store.set({ threads: withThread(store.state.threads ?? [], thread) });
    goTo(thread.id);
    return true;
  });
  return isAccepted ?? false;
}

/** Runs an action on the open thread, and shows its error. */
async function inThread<Result>(
  store: PageStore,
  work: (open: string) => Promise<Result>,
): Promise<Result | undefined> {
  const { open } = store.state;
  return open === undefined ? undefined : store.attempt(() => work(open));
}

/** Sends a message to the active run. Returns whether the server accepted it. */
export async function say(store: PageStore, task: SentTask): Promise<boolean> {
  const isAccepted = await inThread(store, async (open) => {
    const { run } = await store.api.say(open, task);
    store.set(
      run === undefined
        ? { notes: ["Sent: the agent reads it at its next call."] }
        : { message: "The task was given." },
    );
    return true;
  });
  return isAccepted ?? false;
}

/** Takes back the last message, and puts its text into the composer, before the text that is there. */
export async function undo(store: PageStore): Promise<void> {
  await inThread(store, async (open) => {
    const { text, notes } = await store.api.undo(open);
    const typed = store.drafts.get(open, "task");
    const words = typeof typed === "string" && typed.trim() !== "" ? `${text}\n\n${typed}` : text;
    store.drafts.keep(open, "task", words);
    await store.loadThread();
    store.set({ message: "The last message was taken back.", notes });
  });
}

/** Changes settings of the open thread, from its next task on. */
export async function changeSettings(
  store: PageStore,
  change: Pick<Settings, "effort" | "mode" | "model">,
): Promise<void> {
  await inThread(store, async (open) => {
    await store.api.change(open, change);
    if (store.state.open === open) store.set({ settings: { ...store.state.settings, ...change } });
    store.set({ message: "The settings are saved." });
  });
}

export async function stop(store: PageStore): Promise<void> {
  await inThread(store, (open) => store.api.stop(open));
}

export async function resume(store: PageStore): Promise<void> {
  await inThread(store, (open) => store.api.resume(open));
}

/** Forks the thread, at a checkpoint or now, and opens the fork. */
export async function fork(store: PageStore, checkpoint?: string): Promise<void> {
  await inThread(store, async (open) => {
    const { thread } = await store.api.fork(open, checkpoint);
    store.set({ threads: withThread(store.state.threads ?? [], thread), message: "The thread was forked." });
    goTo(thread.id);
  });
}

export async function remove(store: PageStore, id: string): Promise<void> {
  await store.attempt(async () => {
    await store.api.remove(id);
    store.set({ threads: store.state.threads?.filter((thread) => thread.id !== id) ?? [] });
    if (store.state.open === id) goTo(undefined);
  });
}

export type Answered = { type: "taken" } | { type: "over"; text: string } | { type: "failed"; text: string };

/** Sends answers. Drafts of a question are kept until the answer is accepted. */
export async function answer(
  store: PageStore,
  answers: Readonly<Record<string, SentAnswer>>,
): Promise<Answered> {
  const { open } = store.state;
  if (open === undefined) return { type: "taken" };
  try {
    await store.api.answer(open, answers);
    const { thread } = store.state;
    const questions = thread.questions.filter(({ id }) => !(id in answers));
    store.set({ thread: { ...thread, questions }, problem: undefined });
    for (const id of Object.keys(answers)) store.drafts.forget(open, questionDraft(id));
    return { type: "taken" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 409) return { type: "failed", text: error.message };
    // Answered elsewhere meanwhile: shows the current questions.
    await store.loadThread();
    return { type: "over", text: error.message };
  }
}

export type Written =
  | { type: "saved"; todos: readonly Todo[] }
  | { type: "moved"; todos: readonly Todo[] }
  | { type: "refused"; text: string };

export async function writePlan(
  store: PageStore,
  { thread, ...edit }: { thread: string } & SentPlan,
): Promise<Written> {
  const show = (now: readonly Todo[], rules?: readonly string[]): void => {
    if (store.state.open === thread) showPlan(store, now, rules);
  };
  try {
    const saved = await store.api.writePlan(thread, edit);
    show(saved.todos, edit.rules);
    store.set({ notes: [`The plan is saved. ${PLAN_SAYS.heard}`] });
    return { type: "saved", todos: saved.todos };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 409 || !error.todos) return { type: "refused", text: error.message };
    show(error.todos);
    return { type: "moved", todos: error.todos };
  }
}

/** Shows the thread at a checkpoint; undefined shows the present. */
export async function lookAt(store: PageStore, checkpoint: Checkpoint | undefined): Promise<void> {
  const { open, past } = store.state;
  if (open === undefined || !checkpoint) return store.set({ past: undefined });
  // The shown content stays until the checkpoint is loaded.
  store.set({ past: { ...past, checkpoint } });
  const content = await store.attempt(() => store.api.checkpoint(open, checkpoint.id));
  const isCurrent = store.state.open === open && store.state.past?.checkpoint.id === checkpoint.id;
  if (!isCurrent) return;
  // If loading failed, the present is shown.
  const thread = content && { ...threadOf(content), isRunning: false };
  store.set({ past: thread && { checkpoint, thread } });
}

/** Shows the server's plan before its event arrives. */
function showPlan(store: PageStore, todos: readonly Todo[], newRules?: readonly string[]): void {
  const { thread } = store.state;
  const main = thread.view.agents.get("main");
  const rules = newRules ?? rulesOf(thread);
  if (!main || (planOf(thread) === todos && rulesOf(thread) === rules)) return;
  const agents = new Map(thread.view.agents).set("main", { ...main, todos, rules });
  store.set({ thread: { ...thread, view: { ...thread.view, agents } } });
}
