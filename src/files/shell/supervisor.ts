import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/** The variable that every process of a command has in its environment, however it was started. */
export const COMMAND_TAG = "HOLDFAST_COMMAND";

/**
 * Reads which commands begin and end. When the pipe closes, be it that this process was killed, it ends those that
 * have not: by their group, and on Linux by their tag, which a process keeps that has left the group.
 */
const SCRIPT = `
live=
while read -r sign tag group; do
  case $sign in
    -) live=$(printf '%s\\n' "$live" | grep -v "^$tag ") ;;
    *) live="$live
$tag $group" ;;
  esac
done
end() {
  printf '%s\\n' "$live" | while read -r tag group; do
    [ -n "$tag" ] || continue
    [ -z "$group" ] || kill "-$1" -- "-$group"
    for file in $(grep -lsa "${COMMAND_TAG}=$tag" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill "-$1" "\${pid%/environ}"
    done
  done
}
[ -n "$live" ] || exit 0
end TERM
sleep 1
end KILL
`;

/** Ends the commands of a process that is no longer there to do it. */
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
    // There is no shell for it: what runs when this process is killed goes on.
    if (process.platform === "win32") return;
    this.#pipe ??= this.#start();
    this.#pipe.write(`${line}\n`);
  }

  #start(): Socket {
    // In a session of its own: what a terminal sends to this process is not for it.
    const child = spawn("/bin/sh", ["-c", SCRIPT], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    child.unref();
    const pipe = child.stdin as Socket;
    pipe.unref();
    const forget = (): void => void (this.#pipe = undefined);
    child.on("error", forget).on("exit", forget);
    pipe.on("error", forget);
    return pipe;
  }
}

/** One for the whole process, started with its first command. */
export const supervisor = new Supervisor();
