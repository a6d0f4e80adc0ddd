import { spawnSync } from "node:child_process";
import { devNull } from "node:os";
import { parse } from "node:path";
import { hostPath, hostProgram } from "../programs/index.ts";

/**
 * Settings with which git runs no program and fetches nothing, whatever the settings of a repository are. This is the
 * only place that runs git outside of isolation, and only to read settings.
 */
const SAFE = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", devNull],
  ["core.sshCommand", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["credential.helper", ""],
  ["protocol.allow", "never"],
  ["safe.bareRepository", "explicit"],
].flatMap(([name, value]) => ["-c", `${name}=${value}`]);

/**
 * The name and value of each setting that `git config` lists. Git uses no repository but the named one, and finds none
 * by itself. `input` is the text of the file `-`. Undefined if git fails or is missing.
 */
export function readSettings(
  words: readonly string[],
  repository: { folder: string } = { folder: devNull },
  input?: Buffer,
): [name: string, value: string | undefined][] | undefined {
  const git = hostProgram("git");
  if (git === undefined) return undefined;
  const cwd = parse(process.execPath).root;
  const { status, stdout } = spawnSync(
    git,
    [...SAFE, `--git-dir=${repository.folder}`, "config", ...words, "--list", "-z"],
    {
      cwd,
      input,
      encoding: "utf8",
      timeout: 20_000,
      maxBuffer: 2 ** 28,
      env: {
        ...withoutGitVariables(),
        PATH: hostPath(),
        GIT_CEILING_DIRECTORIES: cwd,
        GIT_NO_LAZY_FETCH: "1",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0",
      },
    },
  );
  if (status !== 0) return undefined;
  return stdout
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, undefined] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

/** The environment without what points git to repositories, settings and programs. The user's settings file stays. */
function withoutGitVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || name === "GIT_CONFIG_GLOBAL"),
  );
}
