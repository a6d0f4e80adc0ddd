import { isClosed, type Todo } from "../../../plan/index.ts";
import { isMutation } from "../../tools/index.ts";
import type { FinishedCall } from "./finished-calls.ts";
import {
  commandsIn,
  filesIn,
  isFinding,
  isForAnswer,
  isLooking,
  itemsAbout,
  wordsOf,
  type NamedCommand,
} from "./item-words.ts";
import type { Verifier, VerifyContext } from "./verifier.ts";

/**
 * A verifier that wants to have seen the work of an item: of one that names a file, that it was read or written; of one
 * that names a command, that it succeeded after the last change; of any other, a call that could be its work. A
 * completion without is accepted only with a note of what was done, and the item is then `unverified`.
 */
export function workWasDone(): Verifier {
  return (todo, context) => {
    const reason = missing(todo, context);
    return reason === undefined ? true : { unverified: reason };
  };
}

/** The missing evidence for an item's work; undefined if none is missing. */
function missing(todo: Todo, context: VerifyContext): string | undefined {
  const { content, id } = todo;
  const { calls, callsBefore, gone } = context;
  if (calls.some(({ args }) => args["todo_id"] === id)) return undefined;
  if (isForAnswer(content)) return undefined;
  const seen = isLooking(content) ? [...callsBefore, ...calls] : calls;
  const commands = commandsIn(content);
  const files = commands.length > 0 ? [] : filesIn(content);
  // What has left the conversation may have been anything.
  const isUnknown = gone > 0;
  if (commands.length > 0 && !isUnknown) {
    return commands.map((command) => missingCommand(command, calls)).find((reason) => reason !== undefined);
  }
  if (files.length > 0 && !isUnknown) {
    // Beside the file that was worked on, others may have been read before the plan.
    const isBegun = files.some((file) => calls.some((call) => mentions(call, file)));
    const counted = isBegun ? [...callsBefore, ...calls] : seen;
    const untouched = files.filter((file) => !counted.some((call) => mentions(call, file)));
    if (untouched.length === 0) return undefined;
    return `${untouched.join(", ")} ${untouched.length === 1 ? "was" : "were"} neither read nor written since the plan was made`;
  }
  return hasWork(todo, context) ? undefined : "no call has finished that could be its work";
}

function missingCommand({ text, words }: NamedCommand, calls: readonly FinishedCall[]): string | undefined {
  const runs = calls.filter(
    (call) => isCommand(call) && words.every((word) => commandOf(call).includes(word)),
  );
  const last = runs.at(-1);
  if (!last) return `"${text}" has not run since the plan was made`;
  if (hasFailed(last, words)) return `"${text}" failed when it last ran`;
  const changed = calls.slice(calls.indexOf(last) + 1).find(changesCode);
  return changed ? `"${text}" last ran before ${pathOf(changed)} was changed` : undefined;
}

/** Whether a command itself has failed: of several in one line the exit code is that of the last. */
function hasFailed(call: FinishedCall, words: readonly string[]): boolean {
  const parts = commandOf(call)
    .split(/[;\n]/)
    .filter((part) => part.trim() !== "");
  const isLast = words.length > 0 && words.every((word) => parts.at(-1)?.includes(word));
  return call.isFailed && (parts.length === 1 || isLast);
}

/** Whether a call could be the work of an item that names neither a file nor a command. */
function hasWork(todo: Todo, context: VerifyContext): boolean {
  const { calls, callsBefore, gone, todos, together, wasStarted, toolCalls } = context;
  /** The items that a call speaks of. */
  const itemsOf = (call: FinishedCall): string[] =>
    itemsAbout(wordsOf(shortTexts(call).join(" ")), todos).map(({ id }) => id);
  const isFound = isFinding(todo.content);
  const seen = [...(isLooking(todo.content) ? callsBefore : []), ...calls];
  const work = seen.filter((call) => isFound || !isListing(call));
  const items = new Map(work.map((call) => [call, itemsOf(call)]));
  if (work.some((call) => items.get(call)!.includes(todo.id))) return true;
  const isFree = (call: FinishedCall): boolean => items.get(call)?.length === 0;
  // Calls that name an item completed before, such as its file, are work on this one.
  const over = new Set(todos.filter(isClosed).map(({ id }) => id));
  for (const id of together) over.delete(id);
  const since = wasStarted ? Math.min(toolCalls, calls.length) : 0;
  const latest = since > 0 ? calls.slice(-since) : [];
  if (latest.some((call) => items.get(call)?.every((id) => over.has(id)))) return true;
  // Calls that speak of no item may be for any of them: one for each that is completed.
  const spoken = new Set([...items.values()].flat());
  const claimed = todos.filter(
    ({ id, status, unverified }) => status === "completed" && !unverified && !spoken.has(id),
  ).length;
  return work.filter(isFree).length + gone >= claimed;
}

/** Whether a call is work on an item in progress: it names its file, or speaks of it and of no other. */
export function isWorkOnCurrent(call: Pick<FinishedCall, "name" | "args">, todos: readonly Todo[]): boolean {
  const made = { ...call, isFailed: false };
  const about = itemsAbout(wordsOf(shortTexts(made).join(" ")), todos);
  return todos
    .filter(({ status }) => status === "in_progress")
    .some((todo) => about.includes(todo) || filesIn(todo.content).some((file) => mentions(made, file)));
}

/** Arguments that say what a call is about. What it writes is not among them. */
const LONGEST = 400;

function shortTexts({ args }: FinishedCall): string[] {
  const texts = (value: unknown): string[] => {
    if (typeof value === "string") return value.length <= LONGEST ? [value] : [];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [];
  };
  return texts(args);
}

const COMMAND_FIELDS = ["command", "cmd", "script", "code"];
const LISTINGS = /^(?:ls|glob|tree|find_tools|list_\w+|list)$/;
const FILE_TOOLS = /^(?:ls|glob|grep|read_file|write_file|edit_file|delete_file)$/;
/** Commands that show where one is and what there is. */
const SHOWING = /^(?:ls|dir|tree|pwd|cd|echo|true|:|date|whoami|which|find)\b/;

function commandIn({ args }: FinishedCall): string | undefined {
  return COMMAND_FIELDS.map((key) => args[key]).find((value) => typeof value === "string");
}

function commandOf(call: FinishedCall): string {
  return commandIn(call) ?? [call.name, ...shortTexts(call)].join(" ");
}

function isCommand(call: FinishedCall): boolean {
  return !FILE_TOOLS.test(call.name) && !isListing(call);
}

/** Whether a call shows no more than which files there are. */
function isListing(call: FinishedCall): boolean {
  if (LISTINGS.test(call.name)) return true;
  const command = commandIn(call);
  return command !== undefined && command.split(/&&|\|\||[;|\n]/).every((part) => SHOWING.test(part.trim()));
}

/** Prose that no program reads does not make an earlier run of one worthless. */
function changesCode(call: FinishedCall): boolean {
  return isMutation(call.name) && !/\.(?:md|mdx|txt|rst|adoc)$/i.test(pathOf(call));
}

function pathOf({ args }: FinishedCall): string {
  const path = args["file_path"] ?? args["path"];
  return typeof path === "string" ? path : "a file";
}

/** Whether a call reads or writes a file, by its name in an argument. */
function mentions(call: FinishedCall, file: string): boolean {
  if (isListing(call)) return false;
  const name = file.replace(/^[./~]+/, "").toLowerCase();
  const command = commandIn(call);
  return [...shortTexts(call), ...(command === undefined ? [] : [command])].some((text) => {
    // A command may have changed its folder.
    const wanted = text === command ? name.slice(name.lastIndexOf("/") + 1) : name;
    const at = text.toLowerCase().indexOf(wanted);
    return at >= 0 && !/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + wanted.length] ?? "");
  });
}
