import { posix } from "node:path";
import { foldName } from "../../files/paths/fold.ts";

/** Folders whose files are run or obeyed by git, editors, shells and agents. */
const FOLDERS = new Set([
  ".git",
  ".githooks",
  ".husky",
  ".vscode",
  ".idea",
  ".holdfast",
  ".agents",
  ".claude",
  ".ssh",
]);

/** Files of that kind, in any folder. */
const FILES = new Set([
  ".envrc",
  ".mcp.json",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".gitconfig",
  ".gitmodules",
  ".gitattributes",
  ".pre-commit-config.yaml",
  ".profile",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".vimrc",
  ".exrc",
  ".emacs",
  ".direnvrc",
]);

/** Where Holdfast keeps what its user has said, in a home folder: settings, and which folders are trusted. */
const OWN = ["/.config/holdfast/", "/.local/state/holdfast/", "/application support/holdfast/"];

/** Whether other programs run or obey a file for the user, so that writing it is running code. However it is spelled. */
export function isObeyedFile(path: string): boolean {
  const segments = posix.normalize(path.replaceAll("\\", "/")).split("/").map(foldName);
  const whole = `/${segments.join("/")}/`;
  return (
    segments.some((segment) => FOLDERS.has(segment)) ||
    FILES.has(segments.at(-1) ?? "") ||
    OWN.some((folder) => whole.includes(folder))
  );
}

/** Commands whose next use can be the one that does harm, by their programs and first words. */
const NEVER_FOR_GOOD =
  /^(?:(?:rm|rmdir|shred|dd|mkfs\S*|truncate|sudo|doas|su|chmod|chown|kill|pkill|killall|curl|wget|ssh|scp|sh|bash|zsh|eval|exec|xargs|env|find)(?:\s|$)|git\s+(?:\S+\s+)*?(?:push|reset|clean)(?:\s|$)|(?:node|deno|bun|python[\d.]*|perl|ruby|php)\s+-)/;

/** Whether a command is one to ask for each time: no rule for its first words is safe. */
export function isNeverForGood(command: string): boolean {
  const [program = "", ...words] = command
    .trim()
    .replace(/^(?:\w+=\S*\s+)+/, "")
    .split(/\s+/);
  return NEVER_FOR_GOOD.test([posix.basename(program), ...words].join(" "));
}
