import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBackend } from "../src/files/backends/create.ts";
import { Disk } from "../src/files/disk/disk.ts";
import { listFiles } from "../src/files/disk/list-files.ts";
import { shellBackend, isIsolated } from "../src/files/shell/index.ts";
import { harmlessGitSettings } from "../src/files/shell/isolation/git-settings.ts";
import { placeText } from "../src/files/shell/place.ts";
import { type Plant, PLANTS, TOOLS } from "./own-git-plants.ts";

/** The outcome of all tries as one user. */
export interface GitOutcome {
  tries: number;
  /** The repositories in which git itself, without our care, runs the program: proof that the attacks could work. */
  armed: number;
  failures: string[];
}

const ID = "1".repeat(40);

/** Settings by which git runs a program. `%` stands for the program. */
const SETTINGS: Readonly<Record<string, string>> = {
  fsmonitor: "[core]\n\tfsmonitor = %",
  hooks: "[core]\n\thooksPath = hooks",
  process: '[filter "x"]\n\tprocess = %\n\trequired = true',
  clean: '[filter "x"]\n\tclean = %',
  smudge: '[filter "x"]\n\tsmudge = %',
  textconv: '[diff "x"]\n\ttextconv = %',
  external: '[diff "x"]\n\tcommand = %\n[diff]\n\texternal = %',
  ssh: '[core]\n\trepositoryformatversion = 1\n\tsshCommand = "% #"\n[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = a@localhost:b\n\tpromisor = true',
  proxy:
    '[core]\n\trepositoryformatversion = 1\n\tgitProxy = %\n[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = git://localhost/b\n\tpromisor = true',
  helper:
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = ext::%\n\tpromisor = true\n[protocol "ext"]\n\tallow = always',
  credential: '[credential]\n\thelper = "!%"\n[credential "https://localhost"]\n\thelper = "!%"',
  editor: "[core]\n\teditor = %\n\tpager = %\n[pager]\n\tstatus = %\n\tconfig = %",
  alias: '[alias]\n\tconfig = "!%"\n\tstatus = "!%"\n\trev-parse = "!%"',
  include: "[include]\n\tpath = more",
};

/** Where the repository is below the project, and the files in it that Holdfast reads and writes. */
const PLACES: readonly { git: string; file: string }[] = [
  { git: "lib/e", file: "lib/e/refs/a.txt" },
  { git: "lib/e", file: "lib/e/a.txt" },
  { git: "e.git", file: "e.git/x/a.txt" },
  { git: "sub/.git", file: "sub/a.txt" },
  { git: ".git", file: "a.txt" },
];

/** Commands that plant a repository. `%` stands for the program, run later by git outside. */
const COMMANDS: readonly string[] = [
  "git init -q node_modules/x && git -C node_modules/x config core.fsmonitor % ; mkdir -p lib; mv node_modules/x lib/x; git -C lib/x commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git -C lib/x rev-parse HEAD),lib/x",
  "cp -r .git lib-git; git config -f lib-git/config core.fsmonitor %; echo ../lib-git > .git/commondir",
  "git clone -q . /tmp/w; git -C /tmp/w sparse-checkout set --cone --sparse-index c; cp /tmp/w/.git/index .git/index; cp -r .git evil; git config -f evil/config core.sshCommand %; git config -f evil/config extensions.partialClone o; rm -rf evil/objects; echo ../evil > .git/commondir",
  "git config core.fsmonitor %; git config --worktree core.fsmonitor %; git config --file .git/config.worktree core.fsmonitor %",
  "mkdir -p .git/hooks; printf '#!/bin/sh\\n%\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change",
  "git init -q --separate-git-dir=w z; git --git-dir=w config core.fsmonitor %; git -C z commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git --git-dir=w rev-parse HEAD),z",
  "git init -q z; git -C z commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git -C z rev-parse HEAD),z; git update-index --split-index; git -C z config core.fsmonitor %",
  "mv .git gone; git init -q .; git config core.fsmonitor %",
  "git init -q z; git -C z commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git -C z rev-parse HEAD),z; git init -q z/node_modules/x; git -C z/node_modules/x commit -q --allow-empty -m x; git -C z update-index --add --cacheinfo 160000,$(git -C z/node_modules/x rev-parse HEAD),node_modules/x; git -C z/node_modules/x config core.fsmonitor %",
  "git init -q z; git -C z commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git -C z rev-parse HEAD),z; mkdir node_modules && git -C z config core.fsmonitor % && mv z/.git 'node_modules/e ' && echo 'gitdir: ../node_modules/e ' > z/.git",
  "git init -q z && git -C z commit -q --allow-empty -m x && git -C z config core.fsmonitor % && mv z $(printf 'z\\377') && git update-index --add --cacheinfo 160000,$(git -C $(printf 'z\\377') rev-parse HEAD),$(printf 'z\\377')",
];

const OBEYING: readonly string[][] = [["status"], ["diff"], ["log", "-p"], ["rev-parse", "HEAD:./a.txt"]];

/** Runs git as careless programs do, which finds any repository. */
function careless(dir: string, words: readonly string[]): void {
  spawnSync("git", ["-c", "safe.directory=*", ...words], { cwd: dir, timeout: 5000, stdio: "ignore" });
}

async function main(tries: number): Promise<GitOutcome> {
  const base = mkdtempSync(join(tmpdir(), "holdfast-git-"));
  const canary = join(base, "ran");
  const program = join(base, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${canary}\nexit 1\n`, { mode: 0o755 });
  const failures: string[] = [];
  let armed = 0;
  let tried = 0;
  const cases = Object.keys(SETTINGS).flatMap((name) => PLACES.map((place) => ({ name, place })));
  const check = (what: string): void => {
    if (existsSync(canary)) failures.push(what);
    rmSync(canary, { force: true });
  };
  try {
    for (const { name, place } of cases.slice(0, tries)) {
      const root = join(base, `r${(tried += 1)}`);
      plant(root, { settings: SETTINGS[name]!.replaceAll("%", program), program, ...place });
      await useEverything(root, place.file);
      check(`${name} in ${place.git}, ${place.file}`);
      for (const words of OBEYING) careless(dirname(join(root, place.file)), words);
      if (existsSync(canary)) armed += 1;
      rmSync(canary, { force: true });
    }
    if (isIsolated()) {
      for (const command of COMMANDS.slice(0, tries)) {
        const root = join(base, `r${(tried += 1)}`);
        plant(root, { git: ".git", file: "a.txt", settings: "", program });
        const shell = shellBackend(root, { isolation: "always" });
        const identity =
          "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=e; ";
        for (const part of command.split("; "))
          await shell.execute!(identity + part.replaceAll("%", program));
        await useEverything(root, "a.txt");
        check(`Holdfast after: ${command}`);
        for (const words of OBEYING) careless(root, words);
        check(`git after: ${command}`);
      }
      for (const one of PLANTS.slice(0, tries)) {
        const root = join(base, `r${(tried += 1)}`);
        plant(root, { git: ".git", file: "a.txt", settings: "", program });
        const asUser = (script: string): void =>
          void spawnSync("/bin/sh", ["-c", TOOLS + script], { cwd: root, timeout: 60_000, stdio: "ignore" });
        if (one.setup !== undefined) asUser(one.setup);
        await runPlant(root, one, program);
        check(`Holdfast with ${one.what}`);
        if (one.user !== undefined) asUser(one.user);
        else for (const words of OBEYING) careless(root, words);
        check(`git with ${one.what}`);
      }
    }
  } finally {
    // Node removes no paths that are longer than the system takes, and no folders without the right to list them.
    spawnSync("chmod", ["-R", "u+rwx", base]);
    spawnSync("rm", ["-rf", base]);
  }
  return { tries: tried, armed, failures };
}

/** Runs the commands of a plant, each as a new process of Holdfast would. */
async function runPlant(
  root: string,
  { commands, isKilled = false, isOnPath = false }: Plant,
  program: string,
): Promise<void> {
  const path = process.env["PATH"]!;
  if (isOnPath)
    process.env["PATH"] = [join(root, "node_modules/.bin"), join(root, "bin"), path].join(delimiter);
  try {
    for (const [at, command] of commands.entries()) {
      if (isKilled && at === 0) await killed(root, TOOLS + command, program);
      else
        await shellBackend(root, { isolation: "always", env: { PROGRAM: program } }).execute!(
          TOOLS + command,
        );
    }
    if (isOnPath) await useEverything(root, "a.txt");
  } finally {
    process.env["PATH"] = path;
  }
}

/** Kills a process of Holdfast while its command runs. */
async function killed(root: string, command: string, program: string): Promise<void> {
  const shell = JSON.stringify(new URL("../src/files/shell/index.ts", import.meta.url).href);
  const options = JSON.stringify({ isolation: "always", env: { PROGRAM: program } });
  const script = `import { shellBackend } from ${shell}; await shellBackend(".", ${options}).execute(${JSON.stringify(command)});`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore" });
  const ended = once(child, "exit");
  for (let tries = 0; tries < 600 && !existsSync(join(root, "started")); tries += 1) await sleep(50);
  child.kill("SIGKILL");
  await ended;
  // Its supervisor ends the command.
  await sleep(1500);
}

/** A project with a commit, and a hostile repository in it, written as plain files. */
function plant(
  root: string,
  options: { git: string; file: string; settings: string; program: string },
): void {
  const { git, file, settings, program } = options;
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  mkdirSync(root, { recursive: true });
  const run = (...words: string[]) =>
    spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: root });
  run("init", "-q", "-b", "main");
  write("a.txt", "one\n");
  write(".gitattributes", "* filter=x diff=x\n");
  run("add", ".");
  run("commit", "-qm", "one");
  write(file, "one\n");
  if (settings === "") return;
  if (git !== ".git") {
    write(`${git}/HEAD`, `${ID}\n`);
    for (const name of ["objects", "refs/heads"]) mkdirSync(join(root, git, name), { recursive: true });
  }
  const isBare = !git.endsWith("/.git") && git !== ".git";
  const head = `[core]\n\tbare = ${isBare}\n`;
  write(`${git}/config`, `${head}${settings}\n`);
  write(`${git}/more`, `[core]\n\tfsmonitor = ${program}\n\tsshCommand = ${program}\n`);
  for (const hook of ["post-index-change", "reference-transaction", "pre-auto-gc"])
    write(`hooks/${hook}`, `#!/bin/sh\n${program}\n`, 0o755);
  if (git === ".git") write("a.txt", "changed\n");
}

/** Calls all of Holdfast that looks at a project's git. */
async function useEverything(root: string, file: string): Promise<void> {
  const backend = createBackend(new Disk(root, {}));
  const path = `/${file}`;
  const read = await backend.readBytes(path);
  const bytes = read.ok ? read.bytes : Buffer.from("");
  await backend.isUnchanged!(path, { bytes, since: undefined });
  await backend.write(path, "two\n");
  await backend.grep({ pattern: "t" });
  placeText(root, { isolated: true, network: false, timeoutMs: 1000, maxTimeoutMs: 1000 });
  harmlessGitSettings(root);
  listFiles(root, 1000);
  if (isIsolated()) await shellBackend(root, { isolation: "always" }).execute!("ls");
}

console.log(JSON.stringify(await main(Number(process.argv[2]))));
