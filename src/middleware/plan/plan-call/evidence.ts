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

type WorkCall = Pick<FinishedCall, "name" | "args">;

/**
 * A verifier that looks for evidence of an item's work. An item that names a file needs a call that read or wrote it;
 * one that names a command needs a successful run after the last change; any other needs a call that could be its work.
 * A completion without evidence is accepted only with a note of what was done, and the item is then `unverified`.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { planMiddleware, workWasDone } from "holdfast";
 *
 * const middleware = [planMiddleware({ verify: workWasDone() })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
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
  const candidates = isLooking(content) ? [...callsBefore, ...calls] : calls;
  const commands = commandsIn(content);
  const files = commands.length > 0 ? [] : filesIn(content);
  // Calls that are no longer in the conversation may have been anything.
  const isUnknown = gone > 0;
  if (commands.length > 0 && !isUnknown) {
    return commands.map((command) => missingCommand(command, calls)).find((reason) => reason !== undefined);
  }
  if (files.length > 0 && !isUnknown) {
    // If one of the files was worked on, the others may have been read before the plan.
    const isBegun = files.some((file) => calls.some((call) => mentions(call, file)));
    const relevant = isBegun ? [...callsBefore, ...calls] : candidates;
    const untouched = files.filter((file) => !relevant.some((call) => mentions(call, file)));
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

/** Whether the command itself failed: for several commands in one line, the exit code is that of the last. */
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
  /** The ids of the items that a call mentions. */
  const itemsOf = (call: FinishedCall): string[] =>
    itemsAbout(wordsOf(shortTexts(call).join(" ")), todos).map(({ id }) => id);
  const acceptsListings = isFinding(todo.content);
  const candidates = [...(isLooking(todo.content) ? callsBefore : []), ...calls];
  const work = candidates.filter((call) => acceptsListings || !isListing(call));
  const items = new Map(work.map((call) => [call, itemsOf(call)]));
  if (work.some((call) => items.get(call)!.includes(todo.id))) return true;
  const isFree = (call: FinishedCall): boolean => items.get(call)?.length === 0;
  // Calls that only mention items completed earlier count as work on this one.
  const completed = new Set(todos.filter(isClosed).map(({ id }) => id));
  for (const id of together) completed.delete(id);
  const since = wasStarted ? Math.min(toolCalls, calls.length) : 0;
  const latest = since > 0 ? calls.slice(-since) : [];
  if (latest.some((call) => items.get(call)?.every((id) => completed.has(id)))) return true;
  // Calls that mention no item may be for any of them: one is needed for each completed item.
  const mentioned = new Set([...items.values()].flat());
  const claims = todos.filter(
    ({ id, status, unverified }) => status === "completed" && !unverified && !mentioned.has(id),
  ).length;
  return work.filter(isFree).length + gone >= claims;
}

/** Whether a call is work on an item in progress: it names the item's file or a word that only this item has. */
export function isWorkOnCurrent(call: WorkCall, todos: readonly Todo[]): boolean {
  const about = itemsAbout(wordsOf(shortTexts(call).join(" ")), todos);
  return todos
    .filter(({ status }) => status === "in_progress")
    .some((todo) => about.includes(todo) || filesIn(todo.content).some((file) => mentions(call, file)));
}

/** The longest argument that says what a call is about. Longer ones are content that it writes. */
const LONGEST = 400;

function shortTexts({ args }: WorkCall): string[] {
  const texts = (value: unknown): string[] => {
    if (typeof value === "string") return value.length <= LONGEST ? [value] : [];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [];
  };
  return texts(args);
}

const COMMAND_FIELDS = ["command", "cmd", "script", "code"];
const LISTINGS = /^(?:ls|glob|tree|find_tools|list_\w+|list)$/;
const FILE_TOOLS = /^(?:ls|glob|grep|read_file|write_file|edit_file|delete_file)$/;
/** Commands that only show the current folder and its files. */
const SHOWING = /^(?:ls|dir|tree|pwd|cd|echo|true|:|date|whoami|which|find)\b/;

function commandIn({ args }: WorkCall): string | undefined {
  return COMMAND_FIELDS.map((key) => args[key]).find((value) => typeof value === "string");
}

function commandOf(call: WorkCall): string {
  return commandIn(call) ?? [call.name, ...shortTexts(call)].join(" ");
}

function isCommand(call: WorkCall): boolean {
  return !FILE_TOOLS.test(call.name) && !isListing(call);
}

/** Whether a call only lists files. */
function isListing(call: WorkCall): boolean {
  if (LISTINGS.test(call.name)) return true;
  const command = commandIn(call);
  return command !== undefined && command.split(/&&|\|\||[;|\n]/).every((part) => SHOWING.test(part.trim()));
}

/** Whether a call may change the result of an earlier command. Changes of prose do not. */
function changesCode(call: WorkCall): boolean {
  return isMutation(call.name) && !/\.(?:md|mdx|txt|rst|adoc)$/i.test(pathOf(call));
}

function pathOf({ args }: WorkCall): string {
  const path = args["file_path"] ?? args["path"];
  return typeof path === "string" ? path : "a file";
}

/** Whether a call reads or writes a file, by its name in an argument. */
function mentions(call: WorkCall, file: string): boolean {
  if (isListing(call)) return false;
  const name = file.replace(/^[./~]+/, "").toLowerCase();
  const command = commandIn(call);
  return [...shortTexts(call), ...(command === undefined ? [] : [command])].some((text) => {
    // A command may run in another folder.
    const target = text === command ? name.slice(name.lastIndexOf("/") + 1) : name;
    const at = text.toLowerCase().indexOf(target);
    return at >= 0 && !/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + target.length] ?? "");
  });
}
