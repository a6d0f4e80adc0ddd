import { existsSync } from "node:fs";
import { APPROVALS, EFFORTS, ISOLATIONS, MODES, PRESET_NAMES } from "../../../vocabulary.ts";
import { FORMATS, SHELLS } from "../options/index.ts";
import type { Terminal } from "../terminal.ts";
import { offersAfter } from "./parser.ts";
import { commandPath } from "./unknown-words.ts";

/** Placeholders that the shell replaces by files or folders. */
const [FILES, FOLDERS] = [":files", ":folders"];

type Offer = (line: Line) => readonly string[] | Promise<readonly string[]>;

interface Line {
  terminal: Terminal;
  /** The words before the one to complete. */
  before: readonly string[];
  current: string;
}

const NOTHING: Offer = () => [];

/** The flags that take a value, with its completions. */
const VALUES: Readonly<Partial<Record<string, Offer>>> = {
  "--model": models,
  "-m": models,
  "--preset": () => PRESET_NAMES,
  "--approve": () => APPROVALS,
  "--mode": () => MODES,
  "--effort": () => EFFORTS,
  "--sandbox": () => ISOLATIONS,
  "--format": () => FORMATS,
  "--dir": () => [FOLDERS],
  "-d": () => [FOLDERS],
  "--state": () => [FILES],
  "--agent": () => [FILES],
  "--mcp-config": () => [FILES],
  "--database": NOTHING,
  "--thread": threadIds,
  "--file": NOTHING,
  "--ask": NOTHING,
  "--answer": NOTHING,
  "-a": NOTHING,
  "--limit": NOTHING,
  "--max-turns": NOTHING,
  "--budget": NOTHING,
  "--timeout": NOTHING,
  "--allow-host": NOTHING,
  "--allow-origin": NOTHING,
  "--host": NOTHING,
  "--port": NOTHING,
  "--queue": NOTHING,
  "--queues": NOTHING,
  "--remove": NOTHING,
  "--role": NOTHING,
  "--slots": NOTHING,
  "--timezone": () => Intl.supportedValuesOf("timeZone"),
  "--token": NOTHING,
  "--unused-for": NOTHING,
};

/** Completions of the arguments of a command: of the first one, or of each (`isList`). */
const WORDS: Readonly<Partial<Record<string, { offer: Offer; isList?: true }>>> = {
  resume: { offer: threadIds },
  show: { offer: threadIds },
  export: { offer: threadIds },
  "plan edit": { offer: threadIds },
  rm: { offer: threadIds, isList: true },
  say: { offer: threadIds },
  undo: { offer: threadIds },
  backup: { offer: () => [FILES] },
  trust: { offer: () => [FOLDERS] },
  completion: { offer: () => SHELLS },
};

/** Completions of the last word, which may be empty or partial. */
export async function complete(words: readonly string[], terminal: Terminal): Promise<string[]> {
  const { before, current, offset } = joined(words);
  const line: Line = { terminal, before, current };
  const [, flag, valueStart] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const value = VALUES[flag ?? before.at(-1) ?? ""];
  const completions = await (value ?? wordsFor)(line);
  const prefix = flag === undefined ? "" : `${flag}=`;
  return completions.flatMap((one) => {
    if (one === FILES || one === FOLDERS) return [one];
    return one.startsWith(valueStart ?? current) ? [(prefix + one).slice(offset)] : [];
  });
}

/** Completes flags after a dash, otherwise commands or arguments. */
async function wordsFor(line: Line): Promise<readonly string[]> {
  const { terminal, before, current } = line;
  if (before.includes("--")) return [];
  const offers = (words: readonly string[], kind: "" | "-") => offersAfter(words, kind, terminal);
  const plain = before.filter((word, at) => !word.startsWith("-") && !VALUES[before[at - 1] ?? ""]);
  const path = await commandPath(plain, offers);
  if (current.startsWith("-")) {
    const flags = (await offers(path, "-")).filter((one) => one.startsWith("--") && !before.includes(one));
    // These are on by default, so the negated form is offered.
    return flags.map((one) => (one === "--plan" || one === "--project" ? `--no-${one.slice(2)}` : one));
  }
  const argument = WORDS[path.join(" ")];
  if (!argument) return offers(path, "");
  const present = plain.slice(path.length);
  if (present.length > 0 && !argument.isList) return [];
  return (await argument.offer(line)).filter((one) => !present.includes(one));
}

/**
 * Joins the pieces into which bash breaks words at : and =. Bash replaces the last piece only, which begins at `offset`
 * in the current word.
 */
function joined(pieces: readonly string[]): { before: string[]; current: string; offset: number } {
  const words: string[] = [];
  let offset = 0;
  let isOpen = false;
  for (const piece of pieces) {
    const isBreak = piece === ":" || piece === "=";
    const last = words.at(-1);
    const isSame = last !== undefined && (isBreak || (isOpen && piece !== ""));
    if (isSame) {
      offset = last.length + (isBreak ? 1 : 0);
      words[words.length - 1] = last + piece;
    } else {
      offset = 0;
      words.push(piece);
    }
    isOpen = isBreak;
  }
  return { before: words.slice(0, -1), current: words.at(-1) ?? "", offset };
}

/** Every provider with its default model. */
async function models(): Promise<string[]> {
  const { PROVIDERS } = await import("../../../models/clients/providers.ts");
  return ["offline", "demo", ...Object.entries(PROVIDERS).map(([id, { model = "" }]) => `${id}:${model}`)];
}

async function threadIds({ before, terminal }: Line): Promise<string[]> {
  const after = (flag: string): string | undefined => {
    const at = before.indexOf(flag);
    return at < 0 ? undefined : before[at + 1];
  };
  try {
    const { isThreadId } = await import("../../../threads/thread/thread-ids.ts");
    const { isDatabaseUrl } = await import("../../../storage/open/index.ts");
    const { statePath, withSaver } = await import("../threads/threads.ts");
    const path = statePath({ state: after("--state"), database: after("--database") }, terminal);
    // Opening a missing file would create it.
    if (!isDatabaseUrl(path) && !existsSync(path)) return [];
    const threads = await withSaver(path, (saver) => saver.listThreads());
    // Ids of other programs may contain characters that a shell would interpret; those are not offered.
    return threads.map(({ id }) => id).filter(isThreadId);
  } catch {
    // Completion cannot show an error; the command itself will.
    return [];
  }
}
