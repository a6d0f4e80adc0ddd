import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

let works: boolean | undefined;

/** Tries, once for this process, whether commands can be run in namespaces of their own. */
export function bubblewrapWorks(): boolean {
  const flags = [
    "--unshare-all",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
  ];
  works ??=
    process.platform === "linux" &&
    spawnSync("bwrap", [...flags, "true"], { stdio: "ignore", timeout: 5000 }).status === 0;
  return works;
}

/** Where keys are kept in a home folder. */
const KEYS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".password-store",
  ".config/gcloud",
  ".config/gh",
  ".config/holdfast",
  ".local/share/keyrings",
  ".local/state/holdfast",
];

/** What in a directory is run for its user by other programs: a command may use it, not change it. */
const FROZEN = [
  ".git/config",
  ".git/hooks",
  ".githooks",
  ".husky",
  ".vscode",
  ".idea",
  ".envrc",
  ".npmrc",
  ".mcp.json",
  ".holdfast",
  ".agents",
  ".claude",
];

/**
 * The words that run a command in namespaces of its own: the directory and an empty /tmp are writable, all else is
 * read-only, keys and the sockets of the system are not there, other processes are not seen, and there is no network
 * unless it is wanted. Everything ends with the first process.
 */
export function inNamespaces(command: string, root: string, { network }: { network: boolean }): string[] {
  const hidden = KEYS.map((name) => join(homedir(), name)).filter((path) => existsSync(path));
  const frozen = FROZEN.map((name) => join(root, name)).filter((path) => existsSync(path));
  const mounts: string[][] = [
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    ...["/tmp", "/var/tmp", "/run"].filter((path) => existsSync(path)).map((path) => ["--tmpfs", path]),
    // Names are looked up through it on many systems.
    network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : [],
    ...hidden.map((path) =>
      statSync(path).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    ),
    ["--bind", root, root],
    ...frozen.map((path) => ["--ro-bind", path, path]),
  ];
  const spaces = [
    "--unshare-all",
    "--cap-drop",
    "ALL",
    ...(network ? ["--share-net"] : []),
    "--die-with-parent",
  ];
  return ["bwrap", ...spaces, ...mounts.flat(), "--chdir", root, "/bin/sh", "-c", command];
}
