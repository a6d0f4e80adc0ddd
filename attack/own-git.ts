import { spawnSync } from "node:child_process";
import { mkdtempSync, chmodSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attack } from "./attack.ts";
import type { GitOutcome } from "./own-git-victim.ts";

const NOBODY = 65_534;

/**
 * Plants repositories whose settings, hooks and filters run a program: as plain files that an agent writes, in the
 * project's own `.git`, and by isolated commands. Then uses all of Holdfast that looks at git. A failure is that the
 * program ran outside of isolation. Tried as this user, and as another one if this is root.
 */
export const ownGit: Attack = {
  name: "own-git",
  run: async ({ tries = 1000 }) => {
    const users = process.getuid?.() === 0 ? [undefined, NOBODY] : [undefined];
    const outcomes = users.map((uid) => outcomeFor(uid, tries));
    const failures = outcomes.flatMap((outcome) => outcome.failures);
    const sum = (key: "tries" | "armed"): number => outcomes.reduce((all, one) => all + one[key], 0);
    const notes = failures[0] ?? `git alone would have run the program in ${sum("armed")}`;
    return { tries: sum("tries"), failures: failures.length, notes };
  },
};

function outcomeFor(uid: number | undefined, tries: number): GitOutcome {
  const home = mkdtempSync(join(tmpdir(), "holdfast-git-home-"));
  chmodSync(home, 0o777);
  try {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", "tsx", join(import.meta.dirname, "own-git-victim.ts"), String(tries)],
      {
        encoding: "utf8",
        ...(uid !== undefined && { uid, gid: uid }),
        env: { ...process.env, HOME: home, TMPDIR: home, XDG_CONFIG_HOME: home },
      },
    );
    const line = stdout.trim().split("\n").at(-1) ?? "";
    return line.startsWith("{")
      ? (JSON.parse(line) as GitOutcome)
      : { tries: 1, armed: 0, failures: [`the process ended: ${stderr.slice(-300)}`] };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
