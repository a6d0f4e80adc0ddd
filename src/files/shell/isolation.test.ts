import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { canIsolate } from "../../../scripts/bubblewrap.mjs";
import { shellBackend, type ShellOptions } from "./index.ts";
import { inNamespaces } from "./isolation/bubblewrap.ts";
import { inControlGroup } from "./isolation/limits.ts";
import { seatbeltRules } from "./isolation/seatbelt.ts";
import { systemCallFilter } from "./isolation/system-calls.ts";
import { runCommand, type CommandOptions } from "./run-command.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-isolation-")));
afterAll(() => rmSync(folder, { recursive: true }));
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(folder, "root-"));
});
afterEach(() => void vi.unstubAllEnvs());

/** What a command printed, its root and options aside isolated as it is by default. */
async function isolated(command: string, options: ShellOptions = {}, dir = root): Promise<string> {
  const result = await shellBackend(dir, { isolation: "always", ...options }).execute!(command);
  if (!result.ok) throw new Error(result.error);
  return result.output;
}

/** Files in a new folder. */
function filesIn(name: string, files: Record<string, string>): string {
  const place = mkdtempSync(join(folder, `${name}-`));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place, file)), { recursive: true });
    writeFileSync(join(place, file), content);
  }
  return place;
}

/** Users that run commands: the one of the tests, and a plain one where that is root. */
const USERS: { user: string; uid: number; options: ShellOptions }[] = [
  { user: "the user", uid: process.getuid?.() ?? 0, options: {} },
  ...(process.getuid?.() === 0
    ? [{ user: "a plain user", uid: 65_534, options: { run: asPlainUser } satisfies ShellOptions }]
    : []),
];

function asPlainUser(words: readonly string[], options: CommandOptions) {
  const user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  // Programs in the home folder of root cannot be bound by somebody else.
  const isOfRoot = (at: number): boolean =>
    words[at] === "--ro-bind-try" && words[at + 1]!.startsWith(`${userInfo().homedir}/`);
  const rest = words.filter((_, at) => ![at, at - 1, at - 2].some(isOfRoot));
  return runCommand([...user, ...rest], options);
}

describe.runIf(canIsolate())("an isolated command", () => {
  beforeEach(() => chmodSync(folder, 0o755));

  it("cannot take its bounds away, not as root either", async () => {
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    const output = await isolated(
      "grep CapEff /proc/self/status; umount .git/hooks; mount -o remount,rw,bind /; mount -o remount,rw,bind .git/hooks; echo x > .git/hooks/pre-commit",
    );
    expect(output).toMatch(/CapEff:\s+0{16}\n/);
    expect(readdirSync(join(root, ".git/hooks"))).toEqual([]);
  });

  it.each(USERS)("as $user can write to no setting of the machine", async ({ uid, options }) => {
    chmodSync(root, 0o777);
    const look =
      "find /proc /sys -path '/proc/[0-9]*' -prune -o ! -type l -writable -print 2>/dev/null; test -r /proc/sys/kernel/ostype && id -u";
    expect(await isolated(look, options)).toBe(`${uid}\n`);
  });

  it.each(USERS)("as $user gets no system calls that have allowed an escape", async ({ options }) => {
    chmodSync(root, 0o777);
    const numbers = { x64: [425, 165, 308, 250, 321, 323, 310], arm64: [425, 40, 268, 219, 280, 282, 270] };
    const calls = numbers[process.arch as "x64"].map((one) => `syscall(${one}, 0, 0, 0, 0, 0, 0)`);
    const all = [...calls, "ioctl(STDIN, 0x5412, $c = 'x')"];
    // EPERM is 1; without a filter they fail with other errors, or not at all.
    const script = all.map((call) => `$! = 0; ${call}; print 0 + $!, " ";`).join(" ");
    expect(await isolated(`perl -e '${script}'`, options)).toBe("1 ".repeat(all.length));
    // Debuggers, threads and sandboxes of browsers go on.
    const [ptrace] = process.arch === "x64" ? [101] : [117];
    expect(
      await isolated(`perl -e 'print syscall(${ptrace}, 0, 0, 0, 0)'; unshare -U echo " apart"`, options),
    ).toBe("0 apart\n");
  });

  it.each([
    [
      "x64",
      0xc000003e,
      { mount: 165, io_uring_setup: 425, ioctl: 16, read: 0, clone3: 435, x32: 0x40000000 },
    ],
    [
      "arm64",
      0xc00000b7,
      { mount: 40, io_uring_setup: 425, ioctl: 29, read: 63, clone3: 435, x32: 0x40000000 },
    ],
  ] as const)("is filtered on %s by the numbers of that machine", (machine, audit, calls) => {
    const [allowed, denied, absent] = [0x7fff0000, 0x00050001, 0x00050026];
    const judge = (call: number, second = 0, arch: number = audit): number =>
      runFilter(systemCallFilter(machine)!, { 0: call, 4: arch, 24: second });
    expect([calls.mount, calls.io_uring_setup].map((call) => judge(call))).toEqual([denied, denied]);
    expect([calls.read, calls.clone3, calls.ioctl].map((call) => judge(call))).toEqual([
      allowed,
      allowed,
      allowed,
    ]);
    expect([judge(calls.ioctl, 0x5412), judge(calls.ioctl, 0x541c), judge(calls.ioctl, 0x5413)]).toEqual([
      denied,
      denied,
      allowed,
    ]);
    expect(judge(calls.read, 0, 0x40000003)).toBe(absent);
    expect(judge(calls.x32)).toBe(absent);
    expect(systemCallFilter("riscv64")).toBeUndefined();
  });

  it.each(USERS)("as $user has limits, which can be lifted", async ({ uid, options }) => {
    chmodSync(root, 0o777);
    const tries: [ShellOptions["limits"], string][] = [
      [{ fileSize: 4096 }, "head -c 8192 /dev/zero > big && echo done"],
      [{ openFiles: 20 }, "bash -c 'exec 30<.' && echo done"],
      [{ memory: 16 * 2 ** 20 }, "x=$(head -c 30000000 /dev/zero | tr '\\0' a) && echo done"],
    ];
    // The kernel counts no processes of root outside of control groups.
    if (uid !== 0) tries.push([{ processes: 20 }, "for n in $(seq 40); do sleep 60 & done; echo done"]);
    for (const [limits, command] of tries) {
      expect(await isolated(command, { ...options, limits: limits! })).not.toContain("done");
      expect(await isolated(command, options)).toContain("done");
    }
  });

  it.runIf(inControlGroup().length > 0)(
    "as any user has limits on all its processes together, in a control group",
    async () => {
      const child = `perl -e '$x = "a" x 30_000_000; sleep 1'`;
      const tries: [ShellOptions["limits"], string][] = [
        [{ processes: 20 }, "for n in $(seq 40); do sleep 60 & done; echo done"],
        [
          { totalMemory: 64 * 2 ** 20 },
          `for n in 1 2 3 4; do ${child} & all="$all $!"; done; for p in $all; do wait $p || exit; done; echo done`,
        ],
      ];
      for (const [limits, command] of tries) {
        expect(await isolated(command, { limits: limits! })).not.toContain("done");
        expect(await isolated(command)).toContain("done");
      }
    },
  );

  it("sees an empty home folder but for programs, which it can write to for a moment", async () => {
    const home = filesIn("home", {
      ".ssh/id": "hush",
      ".aws/credentials": "hush",
      "diary.md": "hush",
      ".cargo/credentials.toml": "hush",
      ".cargo/bin/tool": "#!/bin/sh\necho tool ran\n",
      "opt/kit/bin/kit": "#!/bin/sh\ncat $(dirname $0)/../lib/words\n",
      "opt/kit/lib/words": "kit ran\n",
      "bin/unused": "",
    });
    for (const program of [".cargo/bin/tool", "opt/kit/bin/kit"]) chmodSync(join(home, program), 0o755);
    vi.stubEnv("HOME", home);
    vi.stubEnv("PATH", `${home}/bin:${home}/.cargo/bin:${home}/opt/kit/bin:${process.env["PATH"]}`);
    const output = await isolated(
      "tool; kit; ls -A ~; cat ~/.ssh/id ~/.aws/credentials ~/diary.md ~/.cargo/credentials.toml; mkdir ~/.cache && echo kept > ~/.cache/x && cat ~/.cache/x; echo x > ~/.cargo/bin/y",
    );
    expect(output).toContain("tool ran\nkit ran\n.cargo\nbin\nopt\n");
    expect(output).not.toContain("hush");
    expect(output).toContain("kept\n");
    expect(readdirSync(home).toSorted()).toEqual([".aws", ".cargo", ".ssh", "bin", "diary.md", "opt"]);
    expect(readdirSync(join(home, ".cargo/bin"))).toEqual(["tool"]);
  });

  it("works in a home folder, and in a folder of one, without its keys", async () => {
    const home = filesIn("home", {
      ".ssh/id": "hush",
      ".netrc": "hush",
      "project/a.txt": "mine\n",
      "b.txt": "",
    });
    vi.stubEnv("HOME", home);
    const look = "cat a.txt project/a.txt ~/.ssh/id ~/.netrc ~/.ssh/* 2>/dev/null; echo new > made.txt; ls ~";
    expect(await isolated(look, {}, home)).toBe("mine\nb.txt\nmade.txt\nproject\n");
    expect(await isolated(look, {}, join(home, "project"))).toBe("mine\nproject\n");
    expect(existsSync(join(home, "project/made.txt"))).toBe(true);
  });

  it("commits with the user's name, and sees no other git settings of the home folder", async () => {
    const home = filesIn("home", {
      ".gitconfig": `[user]\n\tname = A \\"B\\" \\\\ C\n[include]\n\tpath = more\n[url "https://t:hush@host/"]\n\tinsteadOf = https://host/\n[http]\n\textraHeader = "Authorization: hush"\n[alias]\n\tx = !hush\n`,
      more: "[user]\n\temail = a@b\n[credential]\n\thelper = !echo hush\n",
      ".config/git/config": "[http]\n\tproxy = http://hush@host\n",
      ".config/git/ignore": "*.log\n",
      "project/a.log": "",
      "project/b": "",
    });
    vi.stubEnv("HOME", home);
    for (const dir of [join(home, "project"), home]) {
      spawnSync("git", ["init", "-q", dir]);
      const output = await isolated(
        "git add '*b' && git commit -qm x && git log --format='%an <%ae>'; git status --short -uall; git config --list; cat ~/.gitconfig ~/.config/git/*",
        {},
        dir,
      );
      expect(output).toContain('A "B" \\ C <a@b>\n');
      expect(output).not.toMatch(/hush|a\.log/);
      rmSync(join(dir, ".git"), { recursive: true });
    }
  });

  it("takes git's settings with it where the project is the folder for temporary files", async () => {
    vi.stubEnv("HOME", filesIn("home", { ".gitconfig": "[user]\n\tname = Ada\n" }));
    // Without what watches the project around a command: that would meet the files of other tests.
    const bounds = { network: false, hidden: [], frozen: { paths: [], around: [] } };
    const words = inNamespaces("git config user.name; cat /tmp/.gitconfig", "/tmp", bounds);
    const env = { PATH: process.env["PATH"] ?? "" };
    const ran = await runCommand(words, { cwd: "/tmp", env, timeoutMs: 120_000, maxOutput: 1000 });
    expect(ran).toMatchObject({ ok: true, output: expect.stringMatching(/^Ada\ncat: /) });
  });

  it("can read but not change its repository in a home folder and a worktree's history", async () => {
    const home = filesIn("home", {
      "repo/packages/a/x": "",
      "repo/node_modules/m": "shared\n",
      "diary.md": "hush",
    });
    const git = (...args: string[]) =>
      spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: join(home, "repo") });
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "first");
    git("worktree", "add", "-q", "../tree");
    vi.stubEnv("HOME", home);
    const look = "cat ../../node_modules/m; git log --format=%s; echo x > ../../made; cat ~/diary.md";
    const inPart = await isolated(look, {}, join(home, "repo/packages/a"));
    expect(inPart).toMatch(/^shared\nfirst\n/);
    expect(inPart).not.toContain("hush");
    expect(existsSync(join(home, "repo/made"))).toBe(false);
    const inTree = await isolated(
      "git log --format=%s; ls ~/repo; echo x > ~/repo/.git/hooks/y",
      {},
      join(home, "tree"),
    );
    expect(inTree).toMatch(/^first\n/);
    expect(inTree).not.toContain("node_modules");
    expect(existsSync(join(home, "repo/.git/hooks/y"))).toBe(false);
  });

  it("does not see hidden files, in any folder", async () => {
    const state = filesIn("state", { "threads.db": "hush", "threads.db-wal": "hush" });
    writeFileSync(join(root, "own.db"), "hush");
    const hidden = ["threads.db", "threads.db-wal"].map((name) => join(state, name));
    const output = await isolated(`cat ${state}/* own.db; echo x > own.db; rm own.db`, {
      hidden: [...hidden, join(root, "own.db"), join(root, "not-there.db")],
    });
    expect(output).not.toContain("hush");
    expect(readFileSync(join(root, "own.db"), "utf8")).toBe("hush");
  });

  it("cannot create files that other programs run, and leaves no trace of the attempt", async () => {
    const names = [
      ".git/hooks/pre-commit",
      ".git/config",
      ".mcp.json",
      ".holdfast/x",
      ".agents/skills/x/SKILL.md",
    ];
    const all = [...names, ".claude/skills/x/SKILL.md", ".envrc", ".vscode/tasks.json", ".husky/x"];
    const attempts = all.map(
      (name) => `mkdir -p $(dirname ${name}); echo x > ${name}; mv y ${name}; ln -s y ${name}`,
    );
    const output = await isolated(
      `echo y > y; ${attempts.join("; ")}; rm -rf .git .claude; git init; mv .claude z; ls -A`,
    );
    expect(output).toContain("Read-only file system");
    expect(readdirSync(root)).toEqual(["y"]);
  });

  it("does not have git take what stands in for it, or keep npm from its work", async () => {
    const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
    git("init", "-q");
    writeFileSync(join(root, "package.json"), '{"scripts":{"hi":"echo hi"}}');
    const output = await isolated("git add -A && git status --short; npm run -s hi");
    expect(output).toBe("A  package.json\nhi\n");
  });

  it("cannot make it where a part is there, or move the folder away that holds it", async () => {
    mkdirSync(join(root, ".git/objects"), { recursive: true });
    writeFileSync(join(root, ".git/config"), "[core]\n");
    const output = await isolated(
      "echo x > .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/a; echo x > .git/config; mv .git aside; echo z > .git/commondir; echo i > .git/index",
    );
    expect(output).toContain("busy");
    expect(readdirSync(join(root, ".git")).toSorted()).toEqual(["config", "index", "objects"]);
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("[core]\n");
  });

  it("leaves a worktree's .git file and the target of a link unchanged", async () => {
    writeFileSync(join(root, ".git"), "gitdir: /elsewhere\n");
    mkdirSync(join(root, "skills"));
    symlinkSync("skills", join(root, ".claude"));
    await isolated("echo x > .git; rm .git; echo x > .claude/SKILL.md; echo x > skills/SKILL.md");
    expect(readFileSync(join(root, ".git"), "utf8")).toBe("gitdir: /elsewhere\n");
    expect(readdirSync(join(root, "skills"))).toEqual([]);
    expect(lstatSync(join(root, ".claude")).isSymbolicLink()).toBe(true);
  });

  it("is held as long as any runs in the directory", async () => {
    const long = isolated(
      "until [ -e go ]; do sleep 0.01; done; mkdir -p .claude/skills; echo x > .mcp.json",
    );
    await vi.waitFor(() => expect(existsSync(join(root, ".mcp.json"))).toBe(true), 120_000);
    await isolated("echo short");
    expect(existsSync(join(root, ".mcp.json"))).toBe(true);
    writeFileSync(join(root, "go"), "");
    expect(await long).toContain("Read-only");
    expect(readdirSync(root)).toEqual(["go"]);
  });

  /** Another process that runs an isolated command in the root. */
  function elsewhere(command: string, more = "") {
    const shell = JSON.stringify(new URL("index.ts", import.meta.url).href);
    const program = `
      import { existsSync } from "node:fs";
      import { shellBackend } from ${shell};
      void shellBackend(".", { isolation: "always" }).execute(${JSON.stringify(command)});
      ${more}`;
    const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", program];
    const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
    return { child, ended: new Promise((resolve) => child.once("exit", resolve)) };
  }

  it("leaves no files when its process ends first", async () => {
    const exit = `setInterval(() => existsSync("started") && process.exit(), 10);`;
    expect(await elsewhere("touch started; sleep 60", exit).ended).toBe(0);
    expect(readdirSync(root)).toEqual(["started"]);
  });

  it("removes the files of a killed process or an older version, and no user files", async () => {
    writeFileSync(join(root, ".envrc"), "");
    writeFileSync(join(root, ".mcp.json"), "");
    mkdirSync(join(root, ".vscode"));
    const { child, ended } = elsewhere("touch started; sleep 60");
    await vi.waitFor(() => expect(existsSync(join(root, "started"))).toBe(true), { timeout: 120_000 });
    child.kill("SIGKILL");
    await ended;
    expect(readdirSync(root)).toContain(".husky");
    await isolated("true");
    expect(readdirSync(root).toSorted()).toEqual([".envrc", ".mcp.json", ".vscode", "started"]);

    const old = filesIn("old", { ".claude/settings.json": "{}" });
    for (const name of [".envrc", ".husky", ".git"]) mkdirSync(join(old, name));
    expect(await isolated("echo x > .envrc", {}, old)).toContain("cannot create");
    expect(readdirSync(old)).toEqual([".claude"]);
  });

  it("is held though another process ends its own in the same directory, first or last", async () => {
    const { ended } = elsewhere(
      "touch started; until [ -e go ]; do sleep 0.01; done; echo x > .envrc; touch over",
    );
    await vi.waitFor(() => expect(existsSync(join(root, "started"))).toBe(true), { timeout: 120_000 });
    const mine = isolated("touch mine; until [ -e gone ]; do sleep 0.01; done; echo x > .mcp.json");
    await vi.waitFor(() => expect(existsSync(join(root, "mine"))).toBe(true), 120_000);
    await isolated("true");
    expect(existsSync(join(root, ".envrc"))).toBe(true);
    writeFileSync(join(root, "go"), "");
    await ended;
    writeFileSync(join(root, "gone"), "");
    expect(await mine).toContain("cannot create .mcp.json");
    expect(readdirSync(root).toSorted()).toEqual(["go", "gone", "mine", "over", "started"]);
  });

  it("cannot make git in the root run a program by an inner repository, and reports it", async () => {
    const git = (...args: string[]) =>
      spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: root,
        encoding: "utf8",
      });
    git("init", "-q");
    git("config", "extensions.worktreeConfig", "true");
    git("config", "core.hooksPath", "hooks-of-mine");
    git("init", "-q", "mine");
    git("-C", "mine", "config", "core.hooksPath", ".husky");
    const shell = shellBackend(root, { isolation: "always" });
    const plain = await shell.execute!("git init -q plain && git -C mine add . && touch mine/.git/index");
    expect(plain).not.toHaveProperty("takenBack");
    const make = (at: string) =>
      `git init -q ${at} && git -C ${at} -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git update-index --add --cacheinfo 160000,$(git -C ${at} rev-parse HEAD),${at}`;
    const arm = `config core.fsmonitor 'touch ${root}/escaped; false'`;
    const attacks: [string, string[]][] = [
      [`${make("lib/x")} && git -C lib/x ${arm}`, ["lib/x/.git/config"]],
      [`${make("node_modules/y")} && git -C node_modules/y ${arm}`, ["node_modules/y/.git/config"]],
      [`${make("z")} && mv z/.git w && echo 'gitdir: ../w' > z/.git && git -C z ${arm}`, ["w/config"]],
      [
        `git -C plain ${arm}; echo 'echo' > plain/.git/hooks/pre-commit`,
        ["plain/.git/config", "plain/.git/hooks"],
      ],
      [`git config --worktree core.fsmonitor 'touch ${root}/escaped; false'`, [".git/config.worktree"]],
      [`git init -q --bare bare && git -C bare ${arm}`, ["bare/config"]],
    ];
    for (const [command, takenBack] of attacks) {
      const result = await shell.execute!(command);
      expect([command, result]).toEqual([command, expect.objectContaining({ takenBack })]);
      git("status");
      expect([command, existsSync(join(root, "escaped"))]).toEqual([command, false]);
    }
    expect(git("-C", "mine", "config", "core.hooksPath").stdout).toBe(".husky\n");
  });

  it("cannot hide a repository under node_modules and move it where git enters it", async () => {
    const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
    git("init", "-q");
    const shell = shellBackend(root, { isolation: "always" });
    await shell.execute!(
      `git init -q node_modules/x && cd node_modules/x && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git config core.fsmonitor 'touch ${root}/escaped; false'`,
    );
    const moved = await shell.execute!(
      "mkdir lib && mv node_modules/x lib/x && git update-index --add --cacheinfo 160000,$(git -C lib/x rev-parse HEAD),lib/x",
    );
    expect(moved).toMatchObject({ takenBack: ["lib/x/.git/config"] });
    git("status");
    expect(existsSync(join(root, "escaped"))).toBe(false);
  });

  it("cannot hide a submodule from the check in a folder of a sparse index", async () => {
    spawnSync("git", ["init", "-q"], { cwd: root });
    const shell = shellBackend(root, { isolation: "always" });
    const result = await shell.execute!(
      [
        "mkdir a && echo x > a/b && git add a && git -c user.name=a -c user.email=a@b commit -qm x",
        "git clone -q . /tmp/w && cd /tmp/w",
        `git sparse-checkout set --cone --sparse-index c && cp .git/index ${root}/.git/index && cd ${root}`,
        "git init -q a/node_modules/x && git -C a/node_modules/x config core.fsmonitor x",
      ].join("; "),
    );
    expect(result).toMatchObject({ takenBack: ["a/node_modules/x/.git/config"] });
  });

  it.each<[what: string, where: string, command: string, takenBack: string[]]>([
    [
      "with a bare repository in a folder that has none",
      "none",
      "mkdir -p objects refs; echo 'ref: refs/heads/x' > HEAD; printf \"[core]\\nbare=false\\nworktree=.\\nfsmonitor=$ARM\\n\" > config",
      ["config"],
    ],
    [
      "with a space at the end of a name",
      "own",
      "make z; link z; mkdir node_modules; mv z/.git 'node_modules/e '; echo 'gitdir: ../node_modules/e ' > z/.git",
      ["node_modules/e /config"],
    ],
    [
      "with a line break in a name",
      "own",
      "make z; link z; mkdir node_modules; mv z/.git 'node_modules/e\nf'; printf 'gitdir: ../node_modules/e\\nf\\n' > z/.git",
      ["node_modules/e\nf/config"],
    ],
    [
      "with the end of a text within a name",
      "own",
      "make z; link z; mkdir node_modules; mv z/.git node_modules/e; printf 'gitdir: ../node_modules/e\\0f\\n' > z/.git",
      ["node_modules/e/config"],
    ],
    [
      "with a link in a path",
      "own",
      "make z; link z; mkdir -p node_modules/d/c; mv z/.git node_modules/d/e; ln -s node_modules/d/c l; echo 'gitdir: ../l/../e' > z/.git",
      ["node_modules/d/e/config"],
    ],
    [
      "with a name that is not UTF-8",
      "own",
      `z=$(printf 'z\\377'); make "$z"; link "$z"`,
      ["z\ufffd/.git/config"],
    ],
    [
      "with a submodule of a submodule",
      "own",
      "git init -q z; git -C z commit -q --allow-empty -m x; link z; make z/node_modules/x; (cd z; link node_modules/x)",
      ["z/node_modules/x/.git/config"],
    ],
    [
      "with the files of a submodule elsewhere",
      "own",
      "git init -q z; git -C z commit -q --allow-empty -m x; link z; make node_modules/w/x; ID=$(git -C node_modules/w/x rev-parse HEAD); git -C z update-index --add --cacheinfo 160000,$ID,x; git -C z config core.worktree ../../node_modules/w",
      ["node_modules/w/x/.git/config"],
    ],
    [
      "with another hash in place of the repository's",
      "own",
      "git init -q --object-format=sha256 z; git -C z commit -q --allow-empty -m x; link() { git -C z update-index --add --cacheinfo 160000,$(git -C z rev-parse HEAD),node_modules/x; }; make z/node_modules/x; link",
      ["z/node_modules/x/.git/config"],
    ],
    [
      "where git's folder has another place",
      "separate",
      "make node_modules/x; link node_modules/x",
      ["node_modules/x/.git/config"],
    ],
  ])("cannot plant a repository %s", async (_what, where, command, takenBack) => {
    if (where !== "none")
      spawnSync("git", ["init", "-q", ...(where === "own" ? [] : ["--separate-git-dir=real"])], {
        cwd: root,
      });
    const tools = `ARM='touch ${root}/escaped; false'
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
        make() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m x; git -C "$1" config core.fsmonitor "$ARM"; }
        link() { git update-index --add --cacheinfo "160000,$(git -C "$1" rev-parse HEAD),$1"; }\n`;
    const result = await shellBackend(root, { isolation: "always" }).execute!(tools + command);
    expect(result).toMatchObject({ takenBack, output: "" });
    // Isolated commands that list what git enters may have run it in there.
    rmSync(join(root, "escaped"), { force: true });
    spawnSync("git", ["-c", "safe.directory=*", "status"], { cwd: root });
    expect(existsSync(join(root, "escaped"))).toBe(false);
  });

  it("cannot have git run other text of a hook that a repository in the root has", async () => {
    const hook = join(root, "sub/.git/hooks/pre-commit");
    spawnSync("git", ["init", "-q", "sub"], { cwd: root });
    writeFileSync(hook, "#!/bin/sh\n", { mode: 0o755 });
    const shell = shellBackend(root, { isolation: "always" });
    expect(await shell.execute!("true")).not.toHaveProperty("takenBack");
    const result = await shell.execute!("echo 'echo' >> sub/.git/hooks/pre-commit");
    expect(result).toMatchObject({ takenBack: ["sub/.git/hooks"] });
  });

  it("cannot change files by which the user's settings make git run programs", async () => {
    const git = (...words: string[]) => spawnSync("git", words, { cwd: root });
    git("init", "-q");
    mkdirSync(join(root, "tools/hooks"), { recursive: true });
    mkdirSync(join(root, "conf"));
    writeFileSync(join(root, "conf/git"), "[include]\n\tpath = more\n");
    writeFileSync(join(root, "conf/more"), "[core]\n\tabbrev = 12\n");
    git("config", "include.path", "../conf/git");
    git("config", "core.hooksPath", "tools/hooks");
    const result = await shellBackend(root, { isolation: "always" }).execute!(
      "echo x > conf/git; echo x > conf/more; echo x > tools/hooks/pre-commit; mv tools x; git config core.abbrev",
    );
    expect(result).toMatchObject({ output: expect.stringMatching(/(?:.*Read-only.*\n){3}.*busy\n12\n$/) });
    expect(result).not.toHaveProperty("takenBack");
    expect(readFileSync(join(root, "conf/git"), "utf8")).toContain("more");
  });

  it("cannot point git elsewhere, and lets git work", async () => {
    const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout;
    git("init", "-q", "-b", "main");
    const output = await isolated(
      "echo z > .git/commondir; rm -f .git/commondir; mv .git/commondir /tmp/z; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; echo 1 > a; git add a && git commit -qm one && git worktree add -q w && git gc -q && git status --short",
    );
    expect(output).toMatch(/Read-only.*\n.*busy\n.*busy\n\?\? w\/\n$/);
    expect(existsSync(join(root, ".git/commondir"))).toBe(false);
    expect(git("log", "--format=%s", "refs/heads/w")).toBe("one\n");
  });

  it("cannot point git elsewhere by a file that stays after its process is killed", async () => {
    const path = join(root, ".git/commondir");
    mkdirSync(join(root, ".git"));
    const { child, ended } = elsewhere("touch started; echo z > .git/commondir; sleep 60");
    await vi.waitFor(() => expect(existsSync(join(root, "started"))).toBe(true), { timeout: 120_000 });
    child.kill("SIGKILL");
    await ended;
    expect(readFileSync(path, "utf8")).toBe(".\n");
    await isolated("true");
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, "../mine\n");
    await isolated("echo z > .git/commondir");
    expect(readFileSync(path, "utf8")).toBe("../mine\n");
  });

  it("reaches the network only where it is wanted", async () => {
    const server = createServer((_, response) => response.end("reached"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `${JSON.stringify(process.execPath)} -e 'fetch("http://127.0.0.1:${port}").then((r) => r.text()).then(console.log, () => console.log("alone"))'`;
    expect(await isolated(ask)).toBe("alone\n");
    expect(await isolated(ask, { network: true })).toBe("reached\n");
    await new Promise((resolve) => server.close(resolve));
  });
});

it("macOS is given the same bounds", () => {
  const { network, filesystem } = seatbeltRules("/work", { network: false, hidden: ["/state/threads.db"] });
  expect(network).toEqual({ allowedDomains: [], deniedDomains: [] });
  expect(filesystem.allowWrite).toContain("/work");
  expect(filesystem.denyRead).toEqual(expect.arrayContaining([join(homedir(), ".ssh"), "/state/threads.db"]));
  expect(filesystem.denyWrite).toEqual(
    expect.arrayContaining(["/work/.git/hooks", "/work/.git/config", "/work/.mcp.json", "/work/.claude"]),
  );
  expect(seatbeltRules("/work", { network: true, hidden: [] })).not.toHaveProperty("network");
});

it("tests in CI fail where bubblewrap is missing", () => {
  const program = `import { canIsolate } from "./scripts/bubblewrap.mjs"; console.log(canIsolate());`;
  const tried = (env: object) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      env: { PATH: "/nowhere", ...env },
    });
  expect(tried({ CI: "1" })).toMatchObject({ status: process.platform === "linux" ? 1 : 0 });
  expect(tried({})).toMatchObject({ status: 0, stdout: "false\n" });
});

/** The kernel's verdict by a filter on one call, given by the words at their places. */
function runFilter(program: Buffer, data: Readonly<Record<number, number>>): number {
  let word = 0;
  for (let at = 0; ; at += 1) {
    const [code, value] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    if (code === 0x20) word = data[value]!;
    else if (code === 0x06) return value;
    else at += program[at * 8 + ((code === 0x15 ? word === value : word >= value) ? 2 : 3)]!;
  }
}
