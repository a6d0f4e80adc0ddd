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
