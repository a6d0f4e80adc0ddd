import { posix } from "node:path";
import { isObeyedFile } from "../../files/paths/index.ts";
import { compileRule, isRule, moves, plainCommands, type PlainCommand } from "../../project/index.ts";

/** A yes permanently that the user may give with the yes to a call. */
export interface Offer {
  /** What is allowed, to follow the word "always". */
  label: string;
  rules: string[];
}

/** The rules to offer for a call, from narrow to wide, on every surface. `path` is the path of its file from the root. */
export function offersFor(
  { name, args }: { name: string; args: Record<string, unknown> },
  path: string | undefined,
): Offer[] {
  const { command } = args;
  const offers =
    name === "execute"
      ? commandOffers(typeof command === "string" ? command.trim() : "")
      : path !== undefined && ["write_file", "edit_file"].includes(name)
        ? writeOffers(path)
        : [{ label: name, rules: [name] }];
  return offers.filter(({ rules }) => rules.every(isRule));
}

function writeOffers(path: string): Offer[] {
  // Rules for folders do not cover files that configure agents or other programs.
  if (isObeyedFile(path)) return [];
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const rules = (pattern: string): string[] => [`write_file(${pattern})`, `edit_file(${pattern})`];
  const isRoot = folder === "" || folder === "/";
  return [
    ...(isRoot ? [] : [{ label: `writes in ${folder}`, rules: rules(`${folder}**`) }]),
    { label: "writes here", rules: ["write_file", "edit_file"] },
  ];
}

/**
 * A rule for each command of a line: for its beginning, if that is safe with any arguments that a rule allows; otherwise
 * for the very command. The very line where a part means something else on its own.
 */
function commandOffers(line: string): Offer[] {
  const commands = plainCommands(line);
  if (!commands || commands.some(({ texts }) => isNeverForGood(texts[0]!))) return [];
  const starts = commands.map(startOf);
  const others = commands.filter((_, at) => starts[at] === undefined);
  // A star would be a pattern.
  if (
    others.some(({ words, texts }) => words.includes(undefined) || texts.some((text) => text.includes("*")))
  )
    return [];
  const begins = [...new Set(starts.filter((start) => start !== undefined))];
  // A program that reads its input may run it.
  const isWhole = begins.length === 0 || moves(commands) || others.some(({ isPiped }) => isPiped);
  if (others.length > 0 && isWhole) return line.includes("*") ? [] : [exactly(line)];
  const label = `commands that begin with ${begins.join(begins.length === 2 ? " or " : ", ")}`;
  const exact = [...new Set(others.map(({ texts }) => texts[0]!))];
  return [
    {
      label: [label, ...exact.map((text) => `exactly ${text}`)].join(", and "),
      rules: [...begins.map(ruleFor), ...exact.map((text) => `execute(${text})`)],
    },
  ];
}

function exactly(line: string): Offer {
  return { label: "this exact command", rules: [`execute(${line})`] };
}

const ruleFor = (start: string): string => `execute(${start} *)`;

/** Programs that run other code by their next words. */
const WITH_SUBCOMMANDS = new Set("git npm pnpm yarn cargo go gh node npx python python3".split(" "));
/** Beginnings that name what runs by an option, or by a third word. */
const LONG_STARTS = /^(?:node --test|npx vitest run|python3? -m pytest)(?= |$)/;

/** The first words of a command, if a rule for them allows it. */
function startOf(command: PlainCommand): string | undefined {
  const [first = "", second, third] = command.words;
  const isPlain = (word: string | undefined): boolean => word !== undefined && /^\w[\w:-]*$/.test(word);
  const [long] = LONG_STARTS.exec(command.words.slice(0, 3).join(" ")) ?? [];
  const named = !isPlain(second) ? 1 : second === "run" && isPlain(third) ? 3 : 2;
  const length = long === undefined ? named : long.split(" ").length;
  const words = command.words.slice(0, length);
  // Such a rule would allow hardly more than the question that is asked, and its label would say more.
  if (second === "--version" || (words.length === 1 && WITH_SUBCOMMANDS.has(first))) return undefined;
  const start = words.join(" ");
  return /^[\w./-]+( [\w:-]+){0,2}$/.test(start) &&
    compileRule(ruleFor(start)).allowsCommand("execute", command)
    ? start
    : undefined;
}

/** Commands that can do harm with other arguments, or that run code in their arguments, by their first words. */
const NEVER_FOR_GOOD =
  /^(?:(?:rm|rmdir|shred|dd|mkfs\S*|truncate|sudo|doas|su|chmod|chown|kill|pkill|killall|curl|wget|ssh|scp|sh|bash|dash|zsh|ksh|fish|eval|exec|xargs|env|find)(?:\s|$)|git\s+(?:\S+\s+)*?(?:push|reset|clean|-c\S*|-C|--config-env\S*|--exec-path\S*|--git-dir\S*|--work-tree\S*)(?:\s|$)|(?:node|nodejs|deno|bun|tsx|python[\d.]*|perl|ruby|php|lua)\s+(?:-\S+\s+)*(?:-[A-Za-z]*[ceEprn]\S*|--(?:eval|print|require|import|loader)\S*|-|eval)(?:\s|$))/;

/** Whether a command needs consent each time: no rule for it is safe. */
export function isNeverForGood(command: string): boolean {
  const [program = "", ...words] = command
    .trim()
    .replace(/^(?:\w+=\S*\s+)+/, "")
    .split(/\s+/);
  return NEVER_FOR_GOOD.test([posix.basename(program), ...words].join(" "));
}
