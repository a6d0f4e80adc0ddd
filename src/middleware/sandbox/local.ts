import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  compositeBackend,
  shellBackend,
  stateFiles,
  withPermissions,
  type FileBackend,
  type FileResult,
  type Execution,
  type ShellOptions,
} from "../../files/index.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";

/** Where a thread's folders appear in its sandbox. */
export const MOUNT = "/mnt/user-data";

/** Options of `localSandboxProvider`. */
export interface LocalSandboxOptions extends Pick<
  ShellOptions,
  "timeoutMs" | "maxTimeoutMs" | "maxOutput" | "passEnv" | "env"
> {
  /** Use Linux namespaces through `bwrap` where it works (`auto`), always, or never. Default `auto`. */
  bubblewrap?: "auto" | "always" | "never";
}

/**
 * Sandboxes on this machine: the thread's own folders, and commands that run in its workspace. With bubblewrap a
 * command sees nothing else of the user's; without it, it can reach what this process can, and `isolation` says so.
 */
export function localSandboxProvider({
  bubblewrap = "auto",
  ...shell
}: LocalSandboxOptions = {}): SandboxProvider {
  let works: Promise<boolean> | undefined;
  const plainNames = new WeakMap<Sandbox, string>();
  return {
    name: "local",
    async acquire({ threadId, folders }) {
      await Promise.all(Object.values(folders).map((folder) => mkdir(folder as string, { recursive: true })));
      const isolated = bubblewrap === "never" ? false : await (works ??= bubblewrapWorks());
      if (bubblewrap === "always" && !isolated) {
        throw new Error(
          "bubblewrap does not work here; install it (apt-get install bubblewrap) or allow it to be left out",
        );
      }
      const root = dirname(folders.workspace);
      const alias = isolated || PLAIN.test(root) ? root : await plainName(root);
      const sandbox: Sandbox = {
        id: `local:${threadId}`,
        isolation: isolated ? "bubblewrap: own namespaces, no network" : "none: commands run as this user",
        backend: mounted(root, shellBackend(folders.workspace, shell), {
          files: shellBackend(root, shell),
          isolated,
          alias,
        }),
      };
      if (alias !== root) plainNames.set(sandbox, alias);
      return sandbox;
    },
    async release(sandbox) {
      const alias = plainNames.get(sandbox);
      if (alias !== undefined) await rm(dirname(alias), { recursive: true, force: true });
    },
  };
}

/** A path that means the same in every kind of quotes, in code and in here-documents. */
const PLAIN = /^[\w/.,:@%+-]+$/;

/** Another name for a folder whose own cannot be put into a command as it is: a link that only this user can reach. */
async function plainName(root: string): Promise<string> {
  const temporary = tmpdir();
  const alias = join(
    await mkdtemp(join(PLAIN.test(temporary) ? temporary : "/tmp", "holdfast-")),
    "user-data",
  );
  await symlink(root, alias);
  return alias;
}

/** The thread's folders under `MOUNT`, nothing anywhere else, and commands in the workspace. */
function mounted(
  root: string,
  shell: FileBackend,
  { files, isolated, alias }: { files: FileBackend; isolated: boolean; alias: string },
): FileBackend {
  const wrap = isolated ? inNamespaces : withRealPaths;
  const nowhere: FileBackend = {
    ...stateFiles({}),
    execute: async (command, options) =>
      virtual(virtual(await shell.execute!(wrap(command, alias), options), root), alias),
  };
  return withPermissions(compositeBackend(nowhere, { [`${MOUNT}/`]: files }), [
    { effect: "allow", operations: ["execute"], paths: "/**" },
    { effect: "allow", paths: [MOUNT, `${MOUNT}/**`] },
    { effect: "deny", paths: "/**" },
  ]);
}

function inNamespaces(command: string, root: string): string {
  const mounts = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/alternatives", "/etc/ssl"].map(
    (path) => `--ro-bind-try ${path} ${path}`,
  );
  const flags = [
    "--unshare-all",
    "--die-with-parent",
    "--proc /proc",
    "--dev /dev",
    "--tmpfs /tmp",
    ...mounts,
  ];
  return `exec bwrap ${flags.join(" ")} --bind ${quoted(root)} ${MOUNT} --setenv HOME ${MOUNT}/workspace --chdir ${MOUNT}/workspace /bin/sh -c ${quoted(command)}`;
}

/** Without namespaces the mount does not exist: its paths in a command stand for the real ones. */
function withRealPaths(command: string, root: string): string {
  return command.replaceAll(/\/mnt\/user-data(?=\/|\s|$|["';|&)])/g, () => root);
}

/** Output names the paths that the model knows. */
function virtual(result: FileResult<Execution>, root: string): FileResult<Execution> {
  return result.ok ? { ...result, output: result.output.replaceAll(root, MOUNT) } : result;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Tries whether commands can be run in namespaces of their own. */
export function bubblewrapWorks(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"], { timeout: 5000 }, (error) =>
      resolve(!error),
    );
  });
}
