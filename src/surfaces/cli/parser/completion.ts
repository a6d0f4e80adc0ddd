import { existsSync } from "node:fs";
import { APPROVALS, EFFORTS, FORMATS, MODES, PRESETS, SANDBOXES, SHELLS } from "../options/index.ts";
import type { Terminal } from "../terminal.ts";
import { offersAfter } from "./parser.ts";
import { commandPath } from "./unknown-words.ts";

/** Placeholders that the shell replaces by files or folders. */
const [FILES, FOLDERS] = [":files", ":folders"];

/** Computes the completions of a word. */
type Offer = (line: Line) => readonly string[] | Promise<readonly string[]>;

interface Line {
  terminal: Terminal;
  /** The words before the one to complete. */
  before: readonly string[];
}

const NOTHING: Offer = () => [];

/** The flags that take a value, and what it may be. */
const VALUES: Readonly<Partial<Record<string, Offer>>> = {
  "--model": models,
  "-m": models,
  "--preset": () => PRESETS,
  "--approve": () => APPROVALS,
  "--mode": () => MODES,
  "--effort": () => EFFORTS,
  "--sandbox": () => SANDBOXES,
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
  "--remove": NOTHING,
  "--role": NOTHING,
  "--slots": NOTHING,
  "--token": NOTHING,
};

/** Completions after a command, for its first word or for each. */
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

/** Completions of the last of these words, which may be empty or partial. */
export async function complete(words: readonly string[], terminal: Terminal): Promise<string[]> {
  const { before, current, done } = joined(words);
  const line: Line = { terminal, before };
  const [, flag, begun] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const value = VALUES[flag ?? before.at(-1) ?? ""];
  const offered = await (value ?? wordsFor(current))(line);
  const prefix = flag === undefined ? "" : `${flag}=`;
  return offered.flatMap((one) => {
    if (one === FILES || one === FOLDERS) return [one];
    return one.startsWith(begun ?? current) ? [(prefix + one).slice(done)] : [];
  });
}

/** Flags after a dash; else commands, or what the command takes. */
function wordsFor(current: string): Offer {
  return async ({ terminal, before }) => {
    if (before.includes("--")) return [];
    const offers = (words: readonly string[], kind: "" | "-") => offersAfter(words, kind, terminal);
    const plain = before.filter((word, at) => !word.startsWith("-") && !VALUES[before[at - 1] ?? ""]);
    const path = await commandPath(plain, offers);
    if (current.startsWith("-")) {
      const flags = (await offers(path, "-")).filter((one) => one.startsWith("--"));
      return (
        flags
          .filter((one) => !before.includes(one))
          // These are on by default: their negation is what there is to say.
          .map((one) => (one === "--plan" || one === "--project" ? `--no-${one.slice(2)}` : one))
      );
    }
    const taken = WORDS[path.join(" ")];
    if (!taken) return offers(path, "");
    const given = plain.slice(path.length);
    if (given.length > 0 && !taken.isList) return [];
    return (await taken.offer({ terminal, before })).filter((one) => !given.includes(one));
  };
}

/**
 * The words as they were typed: bash breaks them at : and =, and puts in what it is offered for the last piece only.
 * `done` is how much of the current word stands before that piece.
 */
function joined(pieces: readonly string[]): { before: string[]; current: string; done: number } {
  const words: string[] = [];
  let done = 0;
  let isOpen = false;
  for (const piece of pieces) {
    const isBreak = piece === ":" || piece === "=";
    const last = words.at(-1);
    const isSame = last !== undefined && (isBreak || (isOpen && piece !== ""));
    if (isSame) {
      done = last.length + (isBreak ? 1 : 0);
      words[words.length - 1] = last + piece;
    } else {
      done = 0;
      words.push(piece);
    }
    isOpen = isBreak;
  }
  return { before: words.slice(0, -1), current: words.at(-1) ?? "", done };
}

/** Every provider, with the model it has by default. */
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
    // To open a file that is not there would be to make it.
    if (!isDatabaseUrl(path) && !existsSync(path)) return [];
    const found = await withSaver(path, (saver) => saver.listThreads());
    // Another program may have called a thread anything: what a shell would not take for one word is not offered.
    return found.map(({ id }) => id).filter(isThreadId);
  } catch {
    // Completion has no place to say what is wrong; the command will.
    return [];
  }
}
