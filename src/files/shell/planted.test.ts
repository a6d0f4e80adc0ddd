import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { canIsolate } from "../../../scripts/bubblewrap.mjs";
import { readSettings } from "../git/index.ts";
import { shellBackend } from "./index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-planted-")));
// Node removes no paths that are longer than the system takes.
afterAll(() => void spawnSync("rm", ["-rf", base]));
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(base, "root-"));
});
afterEach(() => void vi.unstubAllEnvs());

describe.runIf(canIsolate())("an isolated command", () => {
  it("cannot have Holdfast start a program that it puts on PATH", async () => {
    const ran = join(base, "ran");
    mkdirSync(ran);
    vi.stubEnv(
      "PATH",
      [join(root, "node_modules/.bin"), join(root, "bin"), process.env["PATH"]].join(delimiter),
    );
    const shell = shellBackend(root, { isolation: "always" });
    const plant = ["bwrap", "git", "rg", "grep", "sleep"].flatMap((name) =>
      ["node_modules/.bin", "bin"].map(
        (folder) =>
          `printf '#!/bin/sh\\ntouch ${ran}/${name}\\nexit 1\\n' > ${folder}/${name}; chmod +x ${folder}/${name}`,
      ),
    );
    await shell.execute!(`mkdir -p node_modules/.bin bin; ${plant.join("; ")}`);
    expect(existsSync(join(root, "node_modules/.bin/bwrap"))).toBe(true);
    expect(await shell.grep({ pattern: "touch" })).toMatchObject({ ok: true });
    expect(readSettings(["--file", "-"], undefined, Buffer.from("[a]\nb=c\n"))).toEqual([["a.b", "c"]]);
    expect(await shell.execute!("echo hi")).toMatchObject({ ok: true, output: "hi\n" });
    expect(readdirSync(ran)).toEqual([]);
  });

  const identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; ";
  /** Shell functions that create a repository and make it a submodule of the root. */
  const tools = `${identity}
    make() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m x; }
    link() { git update-index --add --cacheinfo "160000,$(git -C "$1" rev-parse HEAD),$1"; }
    arm() { git config -f "$1" core.fsmonitor "$PROGRAM"; }\n`;

  it.each<[how: string, commands: string[], takenBack: string[], setup?: string, user?: string]>([
    [
      "a link in a link to its settings",
      [
        "make z; link z; mkdir z/a z/b; cp z/.git/config z/a/conf; cp z/.git/config z/b/conf; arm z/b/conf; ln -s ../a z/.git/link; rm z/.git/config; ln -s link/conf z/.git/config",
        "ln -sfn ../b z/.git/link",
      ],
      ["z/.git/config"],
    ],
    [
      "another folder behind a link to its settings",
      [
        "make z; link z; mkdir z/a z/b; cp z/.git/config z/a/conf; cp z/.git/config z/b/conf; arm z/b/conf; rm z/.git/config; ln -s ../a/conf z/.git/config",
        "mv z/a z/c; mv z/b z/a",
      ],
      ["z/.git/config"],
    ],
    [
      "settings of the same age in its place",
      [
        "make z; link z; mkdir node_modules; cp -r z/.git node_modules/g; arm node_modules/g/config; chmod 644 z/.git/config node_modules/g/config",
        "mv z/.git node_modules/old; mv node_modules/g z/.git",
      ],
      ["z/.git/config"],
    ],
    [
      "a link to hooks that changes",
      [
        "make z; link z; rm -rf z/.git/hooks; mkdir -p z/h/a z/h/b; ln -s a z/h/sub; ln -s ../h/sub z/.git/hooks; printf '#!/bin/sh\\n%s\\n' $PROGRAM > z/h/b/post-index-change; chmod +x z/h/b/*",
        "ln -sfn b z/h/sub",
      ],
      ["z/.git/hooks"],
    ],
    [
      "a link to the settings of a worktree that changes",
      [
        "mkdir a b; echo '[core]' > a/c; cp .git/config b/c; arm b/c; ln -s a l; ln -s ../l/c .git/config.worktree",
        "ln -sfn b l",
      ],
      [".git/config.worktree"],
      "git config extensions.worktreeConfig true",
    ],
    [
      "a path that depends on the process",
      [
        "make node_modules/x; link node_modules/x; mv node_modules/x/.git node_modules/x/g; arm node_modules/x/g/config; echo 'gitdir: /proc/self/cwd/g' > node_modules/x/.git",
      ],
      ["node_modules/x/.git"],
    ],
    [
      "a link to a folder below node_modules",
      [
        "make node_modules/c; arm node_modules/c/.git/config; mkdir node_modules/c/src; ln -s node_modules/c/src src",
      ],
      ["node_modules/c/.git/config"],
      "",
      "cd src && git status",
    ],
    [
      "a folder that a sparse index stands for",
      [
        "make d/node_modules/x; arm d/node_modules/x/.git/config; H=$(git -C d/node_modules/x rev-parse HEAD); T1=$(printf '160000 commit %s\\tx\\n' $H | git mktree --missing); T2=$(printf '040000 tree %s\\tnode_modules\\n' $T1 | git mktree); T=$(printf '040000 tree %s\\td\\n040000 tree %s\\tc\\n' $T2 $(git rev-parse HEAD:c) | git mktree); git reset -q --soft $(git commit-tree -m x $T); mv d e; git read-tree -m HEAD; mv e d",
      ],
      ["d/node_modules/x/.git/config"],
      "mkdir c d; echo 1 > c/f; echo 2 > d/f; git add .; git commit -qm two; git sparse-checkout set --cone --sparse-index c",
    ],
    [
      "a file that its settings include",
      ["make z; link z; touch inc; git -C z config include.path ../../inc", "arm inc"],
      ["z/.git/config"],
    ],
    [
      "a new file that the user's settings include",
      ["mkdir -p conf; arm conf/git"],
      ["conf/git"],
      "git config include.path ../conf/git",
    ],
    [
      "new hooks where the user's settings expect them",
      [
        "mkdir -p tools/hooks; printf '#!/bin/sh\\n%s\\n' $PROGRAM > tools/hooks/post-index-change; chmod +x tools/hooks/*",
      ],
      ["tools/hooks"],
      "git config core.hooksPath tools/hooks; touch -d yesterday .git/HEAD",
      "touch a; git add a; git status",
    ],
  ])("cannot have the user's git run a program by %s", async (_how, commands, takenBack, setup, user) => {
    const program = join(base, "program");
    const ran = join(base, "canary");
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\nexit 1\n`, { mode: 0o755 });
    const sh = (script: string) => spawnSync("/bin/sh", ["-c", identity + script], { cwd: root });
    sh(`git init -q -b main; git commit -q --allow-empty -m one; ${setup ?? ""}`);
    const results = [];
    for (const command of commands) {
      const shell = shellBackend(root, { isolation: "always", env: { PROGRAM: program } });
      const result = await shell.execute!(tools + command);
      results.push(...((result as { takenBack?: string[] }).takenBack ?? []));
    }
    expect(results).toEqual(takenBack);
    sh(user ?? "git status");
    expect(existsSync(ran)).toBe(false);
  });

  it("cannot hide a submodule by a path that is too long for the check", async () => {
    spawnSync("git", ["init", "-q"], { cwd: root });
    const path = `${"d".repeat(120)}/`.repeat(40).slice(0, 4093 - root.length);
    const result = await shellBackend(root, { isolation: "always" }).execute!(
      `echo '160000 ${"1".repeat(40)}\t${path}' | git update-index --index-info; mkdir -p ${path}; cd ${path}; mkdir .git`,
    );
    expect(result).toMatchObject({ takenBack: [".git/index"] });
  });

  it("cannot keep a folder from the check by its mode", async () => {
    chmodSync(base, 0o755);
    const shell = shellBackend(root, { isolation: "always" });
    const result = await shell.execute!(
      `${tools} make n/z; git -C n/z config core.fsmonitor x; chmod 555 n/z/.git; chmod 311 n`,
    );
    expect(result).toMatchObject({ takenBack: ["n/z/.git/config"] });
  });

  it("cannot hold the process by a long file of git or a pipe", async () => {
    spawnSync("git", ["init", "-q"], { cwd: root });
    const result = await shellBackend(root, { isolation: "always" }).execute!(
      "mkdir y z; (printf 'gitdir: a'; yes '' | head -c 900000; echo x) > y/.git; git init -q z; (yes '' | head -c 900000; echo x) >> z/.git/config; git init -q x; rm x/.git/config; mkfifo x/.git/config",
    );
    expect(result).toMatchObject({ takenBack: ["z/.git/config", "y/.git"] });
  });
});
