import { relative, resolve } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { listFiles } from "../../../files/disk/index.ts";
import { Allowed, type Project } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import {
  withPricedBudget,
  isolationNotice,
  modelFor,
  OFFLINE,
  FALLBACK,
  settledModel,
} from "../../../threads/prepare/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import { pricesOf } from "../../../threads/view/index.ts";
import { EXIT } from "../exit-codes.ts";
import { withKeptKeys, logIn } from "../login/index.ts";
import { harmless, oneLine, shown, type Harmless } from "../output/index.ts";
import { projectFor } from "../run/index.ts";
import {
  type SessionModel,
  displayFor,
  settingsToContinue,
  History,
  type Suggestion,
  Session,
  SLASH_COMMANDS,
} from "../session/index.ts";
import { canAsk, isLive, paintOf, type Terminal } from "../terminal.ts";
import {
  directoryName,
  findThread,
  isHere,
  settingsOf,
  copiesFolder,
  historyFile,
  MANY,
  statePath,
  withSaver,
} from "../threads/index.ts";
import { asTyped, commandName, quoted, refuse } from "../wording.ts";
import { inDirectory, settingsFrom, type RunFlags } from "./run.ts";

export interface SessionFlags extends Omit<RunFlags, "json" | "quiet"> {
  continue?: boolean;
  resume?: boolean;
  plain?: boolean;
}

/** `holdfast` without a command: a session in this directory, until the user leaves. */
export async function session(flags: SessionFlags, terminal: Terminal): Promise<number> {
  if (!canAsk(terminal, {})) {
    refuse('A session needs a terminal: use holdfast run "task" here.');
  }
  const { env } = terminal;
  const path = statePath(flags, terminal);
  return withSaver(path, async (saver) => {
    const task = flags.task?.trim() ?? "";
    if (flags.continue || flags.resume) await refuseThreadAsTask(saver, task);
    const thread = await threadToOpen(flags, saver, terminal);
    const stored = thread === undefined ? undefined : await settingsOf(saver, thread);
    const requested = await settingsFrom(withDefaults(flags, stored !== undefined), terminal, stored);
    const { project, notice } = await projectFor(
      { ...requested, trustProject: flags.trustProject },
      terminal,
      {},
    );
    const keepsMode = stored !== undefined && flags.mode === undefined && !flags.yes;
    const { settings, notice: modeNotice } = keepsMode
      ? settingsToContinue(requested, project.config)
      : { settings: requested, notice: undefined };
    const modelNamed = async (name: string | undefined) =>
      modelFor(name, { env: await withKeptKeys(env), isWatched: true, timeout: flags.timeout });
    const { model, notice: modelNotice } = await modelFrom(flags.model ?? settledModel(project, env), {
      // A thread that was started without a model continues with the one that is set up now.
      previous: flags.model !== undefined || stored?.model === OFFLINE ? undefined : stored?.model,
      modelNamed,
      // A thread of the program `offline` has a model already.
      offersLogin: isLive(terminal) && !flags.plain && stored?.model !== OFFLINE,
      terminal,
    });
    const { dir } = settings;
    const paint = paintOf(terminal);
    const prices = pricesOf(model.name, env, project.config);
    const display = displayFor(
      {
        terminal,
        commands: () => commandsOf(project),
        files: filesOf(dir),
        history: new History(historyFile(path)),
        prices: () => conversation.prices,
        paint,
      },
      flags.plain,
    );
    const conversation: Session = new Session({
      terminal,
      display,
      paint,
      saver,
      settings: withPricedBudget({ ...settings, model: model.name }, prices),
      model,
      project,
      allowed: dir === undefined ? undefined : new Allowed(dir, env),
      copies: copiesFolder(path),
      thread,
      modelNamed,
    });
    // Throws if commands must be isolated and cannot be.
    const isolation = isolationNotice({ ...settings, mode: conversation.mode }, project.config);
    const leave = (): void => conversation.quit();
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
    try {
      const fallback = model.isFallback ? asTyped(FALLBACK, env) : undefined;
      const notices = [fallback, isolation, modelNotice, modeNotice, notice];
      display.print([
        firstLine(conversation, project, terminal),
        ...notices.flatMap((line) => (line === undefined ? [] : paint("yellow", oneLine(line)))),
      ]);
      await conversation.run([...(flags.resume ? ["/resume"] : []), ...(task === "" ? [] : [task])]);
    } finally {
      await display.close();
      await conversation.close();
      for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, leave);
    }
    if (conversation.thread !== undefined) {
      const { id } = conversation.thread;
      const isLatest = (await latestIn(terminal.cwd, saver)) === id;
      const flag = isLatest ? "--continue" : `--thread ${quoted(id)}`;
      const state = flags.state === undefined ? "" : ` --state ${quoted(flags.state)}`;
      const again = harmless(`${commandName(env)} ${flag}${state}`);
      terminal.stdout.write(shown`${paint("dim", shown`${oneLine(id)}; continue with ${again}`)}\n`);
    }
    return EXIT.done;
  });
}

interface ModelSources {
  /** The stored model of the thread that the session continues. */
  previous: string | undefined;
  modelNamed: (name: string | undefined) => Promise<SessionModel>;
  /** Whether to offer a login if no model is set up. */
  offersLogin: boolean;
  terminal: Terminal;
}

/** The model of a session: the thread's if it is available, otherwise the one that is set up, after a login if needed. */
async function modelFrom(
  name: string | undefined,
  { previous, modelNamed, offersLogin, terminal }: ModelSources,
): Promise<{ model: SessionModel; notice?: string }> {
  let notice: string | undefined;
  if (previous !== undefined) {
    const model = await modelNamed(previous).catch((error: unknown) => {
      notice = `${previous} answered before and cannot now: ${HarnessError.from(error)?.message ?? String(error)}`;
    });
    if (model) return { model };
  }
  const model = await modelNamed(name);
  const login = model.isFallback && offersLogin ? await logIn({ isOptional: true }, terminal) : undefined;
  const used = login === undefined ? model : await modelNamed(login);
  return { model: used, notice };
}

/** The defaults of a new session: the current directory, and commands. */
function withDefaults(flags: SessionFlags, isStored: boolean): RunFlags {
  return isStored ? flags : inDirectory({ ...flags, shell: flags.shell ?? flags.dir !== false });
}

function commandsOf(project: Project): Suggestion[] {
  const own = SLASH_COMMANDS.map(({ name, about }) => ({ text: `/${name}`, about }));
  return [
    ...own,
    ...project.skills.map(({ name, description }) => ({ text: `/${name}`, about: description })),
  ];
}

/** Returns a function that lists the files of the directory, at most once in `FRESH_MS`. */
function filesOf(dir: string | undefined): () => readonly string[] {
  let [files, at]: [readonly string[], number] = [[], 0];
  return () => {
    if (dir !== undefined && Date.now() - at > FRESH_MS)
      [files, at] = [listFiles(dir, MAX_FILES), Date.now()];
    return files;
  };
}

const FRESH_MS = 10_000;
const MAX_FILES = 20_000;

/** The thread that a session continues. Undefined for a session that begins with a new thread, or asks for one. */
async function threadToOpen(
  flags: Pick<SessionFlags, "thread" | "continue" | "dir">,
  saver: ThreadStore,
  terminal: Terminal,
): Promise<string | undefined> {
  if (flags.thread !== undefined) return (await findThread(saver, flags.thread)).id;
  if (!flags.continue) return undefined;
  const here = flags.dir === undefined ? terminal.cwd : resolve(terminal.cwd, flags.dir || ".");
  const latest = await latestIn(here, saver);
  return latest ?? refuse("There is no thread of this directory yet: start one with holdfast.");
}

/** Throws `invalid-options` if the first message is the id of a thread: the thread itself was meant. */
async function refuseThreadAsTask(saver: ThreadStore, task: string): Promise<void> {
  if (task === "" || !(await saver.getThread(task))) return;
  refuse(`${quoted(task)} is a thread, which holdfast session --thread ${quoted(task)} opens.`);
}

/** The thread that was used last in a directory, and is not running. */
async function latestIn(cwd: string, saver: ThreadStore): Promise<string | undefined> {
  for (const { id, state } of await saver.listThreads({ limit: MANY })) {
    const settings = state === "running" ? undefined : await settingsOfThread(saver, id);
    if (settings && isHere(settings, { cwd })) return id;
  }
  return undefined;
}

/** Directory, model, isolation and project files: `holdfast · ~/project · offline · …`. */
function firstLine(
  { settings, model, paint, isIsolated }: Session,
  project: Project,
  terminal: Terminal,
): Harmless {
  const { dir, shell } = settings;
  const read = project.files.filter(({ isUsed }) => isUsed).map(({ path }) => nameIn(project.root, path));
  const parts = [
    dir === undefined ? "files in the thread" : directoryName({ dir }, { ...terminal, cwd: "/" }),
    model.name,
    shell ? (isIsolated ? "commands isolated" : "commands not isolated") : "no commands",
    read.length > 0 ? `read ${read.join(", ")}` : "no project files",
  ];
  return paint("dim", oneLine(`holdfast · ${parts.join(" · ")}`));
}

function nameIn(root: string | undefined, path: string): string {
  const inside = root === undefined ? path : relative(root, path);
  return inside.startsWith("..") ? path : inside;
}
