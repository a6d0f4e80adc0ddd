import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isObeyedFile } from "../src/files/paths/index.ts";
import { compileRule } from "../src/project/rules.ts";
import { chance, type Attack, type AttackOptions, type AttackResult } from "./attack.ts";
import { allowLines, denyLines } from "./command-lines.ts";

/** How many lines are run to see that their effect is real. */
const SAMPLE = 80;

interface Try {
  line: string;
  /** What is said about it if it gets through. */
  name: string;
  /** Whether the rule lets it run in a folder. */
  passes: (dir: string) => boolean;
}

/**
 * Lines that rules for something else must not let pass. A failure is a line that a rule allows, and that runs a program
 * or writes a file which other programs obey.
 */
export const allowRules: Attack = {
  name: "allow-rules",
  run: (options) =>
    attempt(
      allowLines().map(([pattern, line]): Try => {
        const rule = compileRule(`execute(${pattern})`);
        const passes = (dir: string): boolean => rule.allows({ tool: "execute", command: line, dir });
        return { line, passes, name: `execute(${pattern}) allows ${line}` };
      }),
      options,
      hasForeignEffect,
    ),
};

/** Lines that push although `git push` is denied. A failure is a line that is not caught, and that pushes. */
export const denyRules: Attack = {
  name: "deny-rules",
  run: (options) => {
    const rule = compileRule("execute(git push*)");
    const tries = denyLines().map((line): Try => ({
      line,
      passes: (dir) => !rule.catches({ tool: "execute", command: line, dir }),
      name: line,
    }));
    return attempt(tries, options, hasPushed);
  },
};

/** Judges lines, and runs those that pass; without `tries` also a sample of all, to see that their effect is real. */
async function attempt(
  all: readonly Try[],
  { tries, seed }: AttackOptions,
  hasEffect: (before: string, after: string) => boolean,
): Promise<AttackResult> {
  const random = chance(seed);
  const order = all.map((one) => ({ one, at: random() })).toSorted((a, b) => a.at - b.at);
  const chosen = order.slice(0, tries ?? order.length).map(({ one }) => one);
  const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-rules-")));
  try {
    build(join(base, "model"));
    const effects = new Map<string, boolean>();
    const isHarmful = async (line: string): Promise<boolean> => {
      const known = effects.get(line);
      if (known !== undefined) return known;
      const place = join(base, "try");
      cpSync(join(base, "model"), place, { recursive: true, verbatimSymlinks: true });
      await run(line, place);
      const effect = hasEffect(join(base, "model"), place);
      rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      effects.set(line, effect);
      return effect;
    };
    const passed = chosen.filter(({ passes }) => passes(join(base, "model", "work")));
    const failed: Try[] = [];
    for (const one of passed) if (await isHarmful(one.line)) failed.push(one);
    const sample = tries === undefined ? chosen.slice(0, SAMPLE) : [];
    let real = 0;
    for (const { line } of sample) if (await isHarmful(line)) real += 1;
    const notes = [
      `${passed.length} let through`,
      ...(sample.length === 0
        ? []
        : [`of ${sample.length} lines that were run, ${real} have their effect here`]),
      ...failed.slice(0, 20).map(({ name }) => name),
    ];
    return { tries: chosen.length, failures: failed.length, notes: notes.join("; ") };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Programs that lines find: none that reaches beyond the folder, such as `crontab` and `sudo`. */
const PROGRAMS =
  "awk bash cat chmod choom chrt cmp cp curl cut dash dd dirname echo ed env expr find flock gawk git grep head install ionice jq ln ls m4 make mawk mkdir mv nice node nohup npm perl prlimit printf python3 rev rg rm rsync script sed seq setarch setpriv setsid sh shuf sleep sort split ssh-agent stdbuf strace tac tail tar taskset tclsh tee timeout touch tr tree true truncate uniq vim wc which xargs xxd zip".split(
    " ",
  );

function build(base: string): void {
  const [work, origin, outside] = ["work", "origin.git", "outside"].map((name) => join(base, name));
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(join(work!, path, ".."), { recursive: true });
    writeFileSync(join(work!, path), text);
    chmodSync(join(work!, path), mode);
  };
  for (const folder of [work!, outside!, join(base, "home"), join(base, "bin")])
    mkdirSync(folder, { recursive: true });
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const name of PROGRAMS) {
    const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(realpathSync(found), join(base, "bin", name));
  }
  write("a", "one\n");
  write("b", "two\n");
  write("src/c", "three\n");
  write("big", "line of text\n".repeat(20_000));
  const evil = '#!/bin/sh\ntouch PWNED "${0%/*}/PWNED"\n';
  for (const path of ["evil", "bin/cat", "ls", "git"]) write(path, evil, 0o755);
  write("x.sh", "#!/bin/sh\n./evil\n", 0o755);
  write("x/b", "four\n");
  write("x/.envrc", "touch PWNED\n");
  write("x/package.json", '{"scripts":{"test":"./../evil"}}');
  write("evil.mk", "x:\n\t./evil\nall:\n\t./evil\n");
  write("curlrc", "output = .envrc\n");
  const push = "git push -q origin HEAD:refs/heads/p";
  write("push.sh", `#!/bin/sh\n${push}\n`, 0o755);
  for (const name of ["pre-commit", "post-commit"]) write(`hooks/${name}`, `#!/bin/sh\n${push}\n`, 0o755);
  write("push.py", `import os\nos.system("${push}")\n`);
  write("push.js", `require("node:child_process").execSync("${push}");\n`);
  write("push.pl", `system("${push}");\n`);
  write("one-line", `${push}\n`);
  // A folder by the name of a remote that the repository does not have, with settings that run a program.
  for (const [path, text] of Object.entries({
    HEAD: "ref: refs/heads/z\n",
    "refs/heads/keep.txt": "",
    "objects/info/alternates": "../alt/objects\n",
    "alt/HEAD": "ref: refs/heads/z\n",
    "alt/objects/keep.txt": "",
    "alt/refs/keep.txt": "",
    config: '[core]\n\tbare = true\n\talternateRefsCommand = "touch PWNED; :"\n',
  }))
    write(`upstream/${path}`, text);
  write("aliases", '[alias]\n\tp = push\n\ty = "!./evil"\n');
  write("home/.gitconfig", "[alias]\n\tp = push\n");
  write("home/git/config", "[alias]\n\tp = push\n");
  write("Makefile", `all:\n\t@true\npush:\n\t@${push}\ntest:\n\t@true\n`);
  const scripts = { test: "true", push, "test:push": push };
  write("package.json", JSON.stringify({ name: "work", version: "1.0.0", scripts }));
  const git = (...args: string[]): void =>
    void execFileSync("git", args, { cwd: work!, stdio: "ignore", env: environment(base) });
  execFileSync("git", ["init", "-q", "--bare", "--template=", origin!], { env: environment(base) });
  git("init", "-q", "--template=", "-b", "main");
  git("add", "-f", "a", "b", "src");
  git("commit", "-qm", "one");
  git("checkout", "-qb", "other");
  write(".envrc", "touch PWNED\n");
  git("add", "-f", ".envrc");
  git("commit", "-qm", "obeyed");
  git("rm", "-q", ".envrc");
  git("commit", "-qm", "removed");
  git("branch", "removed");
  git("reset", "-q", "--hard", "HEAD~1");
  writeFileSync(
    join(work!, "evil.patch"),
    execFileSync("git", ["format-patch", "-1", "--stdout"], { cwd: work!, env: environment(base) }),
  );
  git("checkout", "-q", "main");
  git("add", "-f", "-A");
  git("commit", "-qm", "two");
  write(".envrc", "touch PWNED\n");
  git("stash", "push", "-qu", "--", ".envrc");
  git("checkout", "-q", "other");
  git("rebase", "-q", "main");
  git("checkout", "-q", "main");
  git("remote", "add", "origin", "../origin.git");
  git("push", "-q", "origin", "main", "other");
  mkdirSync(join(work!, ".git/hooks"), { recursive: true });
}

function environment(base: string): Record<string, string> {
  return {
    PATH: join(base, "bin"),
    HOME: join(base, "home"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
    P: "push",
    TERM: "dumb",
  };
}

async function run(line: string, base: string): Promise<void> {
  const work = join(base, "work");
  const child = spawn("/bin/sh", ["-c", line.replaceAll("@/", () => `${work}/`)], {
    cwd: work,
    env: environment(base),
    stdio: "ignore",
    detached: true,
  });
  const ended = once(child, "exit");
  const end = (): void => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // Its group has ended.
    }
  };
  const timer = setTimeout(end, 5000);
  await ended;
  clearTimeout(timer);
  end();
}

/** Whether a program ran that no rule names, or files changed that other programs obey, or that are outside. */
function hasForeignEffect(before: string, after: string): boolean {
  return obeyed(before) !== obeyed(after);
}

function obeyed(base: string): string {
  const work = readdirSync(join(base, "work"), { recursive: true, encoding: "utf8" }).filter((path) => {
    const inGit = path.startsWith(".git/");
    return inGit ? /^\.git\/(?:hooks|config)/.test(path) : path !== ".git" && isObeyedFile(path);
  });
  const all = readdirSync(base, { recursive: true, encoding: "utf8" });
  const others = all.filter(
    (path) => path.endsWith("PWNED") || /^(?:outside|home)\/(?!\.npm|\.cache)/.test(path),
  );
  return JSON.stringify([
    ...work.map((path) => [path, contentOf(join(base, "work", path))]),
    ...others.toSorted(),
  ]);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function hasPushed(before: string, after: string): boolean {
  const refs = (base: string): string =>
    execFileSync("git", ["for-each-ref"], {
      cwd: join(base, "origin.git"),
      encoding: "utf8",
      env: environment(before),
    });
  return refs(before) !== refs(after);
}
