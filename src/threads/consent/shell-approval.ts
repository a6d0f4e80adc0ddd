import { posix } from "node:path";

/** Commands that can do harm with other arguments, by their first words. */
const NEVER_FOR_GOOD =
  /^(?:(?:rm|rmdir|shred|dd|mkfs\S*|truncate|sudo|doas|su|chmod|chown|kill|pkill|killall|curl|wget|ssh|scp|sh|bash|zsh|eval|exec|xargs|env|find)(?:\s|$)|git\s+(?:\S+\s+)*?(?:push|reset|clean)(?:\s|$)|(?:node|deno|bun|python[\d.]*|perl|ruby|php)\s+-)/;

/** Whether a command needs consent each time: no rule for its first words is safe. */
export function isNeverForGood(command: string): boolean {
  const [program = "", ...words] = command
    .trim()
    .replace(/^(?:\w+=\S*\s+)+/, "")
    .split(/\s+/);
  return NEVER_FOR_GOOD.test([posix.basename(program), ...words].join(" "));
}
