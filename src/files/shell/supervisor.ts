import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { hostProgram } from "../programs/index.ts";

/** The environment variable with the command's tag, which all its processes inherit. */
export const COMMAND_TAG = "HOLDFAST_COMMAND";

/**
 * Reads the starts and ends of commands. When the pipe closes, also because this process was killed, it ends the
 * running ones: by their group, and on Linux by their tag, which also finds processes that have left the group. Its
 * arguments are the paths of `grep` and `sleep`.
 */
const SCRIPT = `
grep=$1
sleep=$2
live=
while read -r sign tag group; do
  case $sign in
    -) live=$(printf '%s\\n' "$live" | "$grep" -v "^$tag ") ;;
    *) live="$live
$tag $group" ;;
  esac
done
end() {
  printf '%s\\n' "$live" | while read -r tag group; do
    [ -n "$tag" ] || continue
    [ -z "$group" ] || kill "-$1" -- "-$group"
    for file in $("$grep" -lsa "${COMMAND_TAG}=$tag" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill "-$1" "\${pid%/environ}"
    done
  done
}
[ -n "$live" ] || exit 0
end TERM
"$sleep" 1
end KILL
`;

/** A process that ends the running commands if this process dies. */
class Supervisor {
  #pipe: Socket | undefined;

  begins(tag: string): void {
    this.#tell(`+ ${tag}`);
  }

  isGroup(tag: string, group: number): void {
    this.#tell(`+ ${tag} ${group}`);
  }

  ended(tag: string): void {
    this.#tell(`- ${tag}`);
  }

  #tell(line: string): void {
    // Windows has no shell for the script: there, commands outlive a killed process.
    if (process.platform === "win32") return;
    this.#pipe ??= this.#start();
    this.#pipe.write(`${line}\n`);
  }

  #start(): Socket {
    // In its own session: the terminal's signals must not reach it.
    const programs = ["grep", "sleep"].map((name) => hostProgram(name) ?? `/bin/${name}`);
    const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", ...programs], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.unref();
    const pipe = child.stdin as Socket;
    pipe.unref();
    const clear = (): void => void (this.#pipe = undefined);
    child.on("error", clear).on("exit", clear);
    pipe.on("error", clear);
    return pipe;
  }
}

/** One per process, started with its first command. */
export const supervisor = new Supervisor();
