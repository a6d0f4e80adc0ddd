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

/** The path of a thread's folders in its sandbox. */
export const MOUNT = "/mnt/user-data";

/** Options of `localSandboxProvider`. */
export interface LocalSandboxOptions extends Pick<
  ShellOptions,
  "timeoutMs" | "maxTimeoutMs" | "maxOutput" | "passEnv" | "env" | "limits"
> {
  /**
   * Whether commands run in Linux namespaces through `bwrap`. If that does not work, `auto` refuses commands and
   * `always` refuses the sandbox. `never` runs commands as this user, with access to all that this process can reach,
   * and tells the model so. Default `auto`.
   */
  bubblewrap?: "auto" | "always" | "never";
}

/**
 * Creates sandboxes on this machine: the thread's folders, and commands that run in its workspace. A command cannot see
 * any other files of the user. If that cannot be ensured, it is not run, except with `bubblewrap: "never"`.
 *
 * @example
 * ```ts
 * import { localSandboxProvider, makeLeadAgent } from "holdfast";
 *
 * const provider = localSandboxProvider({ bubblewrap: "always", timeoutMs: 60_000 });
 * const agent = makeLeadAgent({}, { model: "openai:gpt-5.1", sandbox: { provider } });
 * ```
 */
export function localSandboxProvider({
  bubblewrap = "auto",
  ...shell
}: LocalSandboxOptions = {}): SandboxProvider {
  const aliases = new WeakMap<Sandbox, string>();
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
      const alias = isolated || PLAIN.test(root) ? root : await createAlias(root);
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
      if (alias !== root) aliases.set(sandbox, alias);
      return sandbox;
    },
    async release(sandbox) {
      const alias = aliases.get(sandbox);
      if (alias !== undefined) await rm(dirname(alias), { recursive: true, force: true });
    },
  };
}

/** Matches a path that needs no escaping in any kind of quotes, in code and in here-documents. */
const PLAIN = /^[\w/.,:@%+-]+$/;

/** Creates a symbolic link to a folder whose path would need escaping in commands. Only this user can access it. */
async function createAlias(root: string): Promise<string> {
  const temporary = tmpdir();
  const alias = join(
    await mkdtemp(join(PLAIN.test(temporary) ? temporary : "/tmp", "holdfast-")),
    "user-data",
  );
  await symlink(root, alias);
  return alias;
}

/** A backend with the thread's folders under `MOUNT`, no other files, and commands in the workspace. */
function mounted(
  root: string,
  shell: FileBackend,
  { files, wrap, alias }: { files: FileBackend; wrap: Wrap | undefined; alias: string },
): FileBackend {
  const base: FileBackend = {
    ...stateFiles({}),
    execute: async (command, options) => {
      if (!wrap) return { ok: false, error: `Commands are not run here: ${NO_ISOLATION}` };
      const result = await shell.execute!(wrap(command, alias), options);
      return withMountPaths(withMountPaths(result, root), alias);
    },
  };
  return withPermissions(compositeBackend(base, { [`${MOUNT}/`]: files }), [
    { effect: "allow", operations: ["execute"], paths: "/**" },
    { effect: "allow", paths: [MOUNT, `${MOUNT}/**`] },
    { effect: "deny", paths: "/**" },
  ]);
}

/** Turns a command of the sandbox into a command of the host. */
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

/** Replaces paths of the mount in a command by real ones: without namespaces the mount does not exist. */
function withRealPaths(command: string, root: string): string {
  return command.replaceAll(/\/mnt\/user-data(?![\w.-])/g, () => root);
}

/** Replaces real paths in output by those of the mount, which the model knows. */
function withMountPaths(result: FileResult<Execution>, root: string): FileResult<Execution> {
  return result.ok ? { ...result, output: result.output.replaceAll(root, MOUNT) } : result;
}
