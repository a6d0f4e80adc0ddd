import { posix } from "node:path";
import { isObeyedFile } from "../../files/paths/index.ts";
import { compileRule, isRule, plainCommands, type PlainCommand } from "../../project/index.ts";

/** A yes for good that a person may give with the yes to a call. */
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

/** Commands with the same beginning, if that is safe with any arguments that a rule allows; otherwise the very line. */
function commandOffers(line: string): Offer[] {
  const commands = plainCommands(line);
  if (!commands || commands.some(({ texts }) => isNeverForGood(texts[0]!))) return [];
  const starts = commands.map(startOf);
  if (starts.every((start) => start !== undefined)) {
    const unique = [...new Set(starts)];
    const label = `commands that begin with ${unique.join(unique.length === 2 ? " or " : ", ")}`;
    return [{ label, rules: unique.map(ruleFor) }];
  }
  const isLiteral = commands.every(({ words }) => !words.includes(undefined));
  // A star would be a pattern.
  if (!isLiteral || line.includes("*")) return [];
  return [{ label: "this exact command", rules: [`execute(${line})`] }];
}

const ruleFor = (start: string): string => `execute(${start} *)`;

const WITH_SUBCOMMANDS = new Set(["git", "npm", "pnpm", "yarn", "cargo", "go", "gh"]);

/** The first words of a command, if a rule for them allows it. */
function startOf(command: PlainCommand): string | undefined {
  const [first = "", second, third] = command.words;
  const isPlain = (word: string | undefined): boolean => word !== undefined && /^\w[\w:-]*$/.test(word);
  const length = !isPlain(second) ? 1 : second === "run" && isPlain(third) ? 3 : 2;
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
