import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HarnessError } from "../../errors.ts";
import { quoted, stateFiles } from "../../files/backends/index.ts";
import {
  compositeBackend,
  diskBackend,
  shellBackend,
  withPermissions,
  type FileBackend,
  type FileResult,
  type Execution,
  type ShellOptions,
} from "../../files/index.ts";
import {
  bubblewrapWorks,
  processes,
  SPACES,
  startBubblewrap,
  inControlGroup,
  limitedShell,
  type CommandLimits,
  NO_ISOLATION,
} from "../../files/shell/index.ts";
import type { Sandbox, SandboxProvider } from "./provider.ts";

/** Where a thread's folders appear in its sandbox. */
export const MOUNT = "/mnt/user-data";

/** Options of `localSandboxProvider`. */
export interface LocalSandboxOptions extends Pick<
  ShellOptions,
  "timeoutMs" | "maxTimeoutMs" | "maxOutput" | "passEnv" | "env" | "limits"
> {
  /**
   * Commands run in Linux namespaces through `bwrap`. Where that does not work they are refused (`auto`), or there is
   * no sandbox at all (`always`). `never` runs them as this user, with all that this process can reach: the model is
   * told so. Default `auto`.
   */
  bubblewrap?: "auto" | "always" | "never";
}

/**
 * Sandboxes on this machine: the thread's own folders, and commands that run in its workspace. A command sees nothing
 * else of the user's; where that cannot be had, it is not run unless the caller wants it so.
 */
export function localSandboxProvider({
  bubblewrap = "auto",
  ...shell
}: LocalSandboxOptions = {}): SandboxProvider {
  const plainNames = new WeakMap<Sandbox, string>();
  return {
    name: "local",
    isolated: bubblewrap !== "never",
    async acquire({ threadId, folders }) {
      await Promise.all(Object.values(folders).map((folder) => mkdir(folder as string, { recursive: true })));
      const isolated = bubblewrap !== "never" && bubblewrapWorks();
      if (bubblewrap === "always" && !isolated) {
        throw new HarnessError("invalid-options", `localSandboxProvider: ${NO_ISOLATION}`);
      }
      const root = dirname(folders.workspace);
      const alias = isolated || PLAIN.test(root) ? root : await plainName(root);
      const sandbox: Sandbox = {
        id: `local:${threadId}`,
        isolation: isolated
          ? "bubblewrap: own namespaces, no network"
          : bubblewrap === "never"
            ? "none: commands run as this user"
            : "none: commands are refused",
        backend: mounted(root, shellBackend(folders.workspace, { ...shell, isolation: "never" }), {
          files: diskBackend(root),
          wrap: isolated ? inSandbox(shell.limits) : bubblewrap === "never" ? withRealPaths : undefined,
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
  { files, wrap, alias }: { files: FileBackend; wrap: Wrap | undefined; alias: string },
): FileBackend {
  const nowhere: FileBackend = {
    ...stateFiles({}),
    execute: async (command, options) => {
      if (!wrap) return { ok: false, error: `Commands are not run here: ${NO_ISOLATION}` };
      return virtual(virtual(await shell.execute!(wrap(command, alias), options), root), alias);
    },
  };
  return withPermissions(compositeBackend(nowhere, { [`${MOUNT}/`]: files }), [
    { effect: "allow", operations: ["execute"], paths: "/**" },
    { effect: "allow", paths: [MOUNT, `${MOUNT}/**`] },
    { effect: "deny", paths: "/**" },
  ]);
}

/** Makes a command of the sandbox one of the host. */
type Wrap = (command: string, root: string) => string;

function inSandbox(limits: CommandLimits | undefined): Wrap {
  const mounts = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/alternatives", "/etc/ssl"].map(
    (path) => `--ro-bind-try ${path} ${path}`,
  );
  const flags = [...SPACES, ...processes(), "--dev /dev", "--tmpfs /tmp", ...mounts].join(" ");
  const start = [...inControlGroup(limits), ...startBubblewrap()].map(quoted).join(" ");
  return (command, root) =>
    `exec ${start} ${flags} --bind ${quoted(root)} ${MOUNT} --setenv HOME ${MOUNT}/workspace --chdir ${MOUNT}/workspace ${limitedShell(command, limits).map(quoted).join(" ")}`;
}

/** Without namespaces the mount does not exist: its paths in a command stand for the real ones. */
function withRealPaths(command: string, root: string): string {
  return command.replaceAll(/\/mnt\/user-data(?![\w.-])/g, () => root);
}

/** Output names the paths that the model knows. */
function virtual(result: FileResult<Execution>, root: string): FileResult<Execution> {
  return result.ok ? { ...result, output: result.output.replaceAll(root, MOUNT) } : result;
}
