import { isObeyedFile } from "../../files/paths/index.ts";
import type { Known, KnownProgram } from "./forms.ts";
import { GIT } from "./git.ts";

const each = (names: string, known: Known): [string, Known][] =>
  names.split(" ").map((name) => [name, known]);
const reader = (options = "*"): Known => ({ deed: "inert", options });

/** Files of the project that no other program obeys, by paths that do not lead out of it. `@` names a file of options. */
const areOwnFiles = (words: readonly string[]): boolean =>
  words.every((word) => !/^[/~@]|\\|(?:^|\/)\.\.(?:\/|$)/.test(word) && !isObeyedFile(word));

/** Text that some shells evaluate where they expect a number or a name. */
const isNotEvaluated = (words: readonly string[]): boolean => words.every((word) => !/[`$]|\w\[/.test(word));

/** Options of test runners and checkers that only choose what is run and shown. */
const TEST_OPTIONS =
  "--run --watch=false --watchAll=false --no-watch --coverage --no-coverage --bail --verbose --silent --ci --runInBand --grep --testNamePattern --testPathPattern --exitfirst --color --no-color --colors --noEmit --check --passWithNoTests --reporter=dot --reporter=verbose --reporter=spec --reporter=tap --reporter=default --reporter=line --reporter=list --max-warnings --quiet -t:";
/** Names of scripts and targets that are code of the project in any project. */
const USUAL =
  /^(?:tests?|unit|e2e|spec|build|compile|lint|format|fmt|check|checks|typecheck|types|type-check|tsc|coverage|verify|validate|all|clean|dev|start|docs|bench)(?:[:-](?:all|unit|e2e|integration|types|watch|ci|dev|lib|node|browser|coverage|check|fix|js|ts|css))*$/;
const isUsualName = ([name = "test"]: readonly string[]): boolean => USUAL.test(name);
const areUsualNames = (words: readonly string[]): boolean => words.every((word) => USUAL.test(word));

const SCRIPT: Known = {
  deed: "code",
  options: `-s --silent --if-present ${TEST_OPTIONS}`,
  words: areOwnFiles,
};
const NAMED_SCRIPT: Known = { ...SCRIPT, isUsual: isUsualName };
const INSTALL: Known = {
  deed: "code",
  options: "--ignore-scripts --no-audit --no-fund --frozen-lockfile --prefer-offline --offline -s --silent",
  words: ({ length }) => length === 0,
};

const VITEST: Known = { deed: "code", options: TEST_OPTIONS, words: areOwnFiles };
const PYTEST: Known = {
  deed: "code",
  options:
    "-qvxsl# -k: -m: -r: --lf --ff --last-failed --failed-first --maxfail --tb=auto --tb=long --tb=short --tb=line --tb=native --tb=no --durations --collect-only --co --no-header --strict-markers --exitfirst --quiet --verbose --sw --stepwise",
  words: areOwnFiles,
};
/** Node runs any file that it is given as a test. */
const NODE_TEST: Known = {
  deed: "code",
  options:
    "--test-only --test-name-pattern --test-skip-pattern --test-concurrency --test-timeout --test-reporter=spec --test-reporter=tap --test-reporter=dot --experimental-test-coverage",
  words: (words) => areOwnFiles(words) && words.every(isTestFile),
};

function isTestFile(word: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__)\/|[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(word);
}

/** A program that is not listed, or has an argument that is not, is unknown: nothing is guessed in its favor. */
const PROGRAMS: Readonly<Record<string, Known>> = Object.fromEntries([
  // None of their options runs a program or writes a file, in GNU, BSD and BusyBox.
  ...each(
    "cat ls head tail wc grep egrep fgrep echo true false pwd basename dirname realpath readlink stat du df uname whoami id nproc seq sleep cmp comm cut paste tr tac rev nl fold column od cksum md5sum sha1sum sha256sum sha512sum which type uptime free ps",
    reader(),
  ),
  [
    "jq",
    reader("-rcnseSajM --arg --argjson --raw-output --compact-output --slurp --sort-keys --exit-status"),
  ],
  ["diff", reader("-uqrNwbBiyac# -U: --brief --unified --recursive --color --side-by-side --new-file")],
  // A script that prints lines by their numbers.
  ["sed", { ...reader("-n"), words: ([script = ""]) => /^\d+(?:,(?:\d+|\$))?p$/.test(script) }],
  ["printf", { ...reader(""), words: isNotEvaluated }],
  ...each("test [", {
    ...reader(
      "-e -f -d -n -z -r -w -x -s -L -h -b -c -p -S -t -a -o -eq -ne -lt -le -gt -ge -nt -ot -ef -O -G -N",
    ),
    isSingleDash: true,
    words: isNotEvaluated,
  }),
  ["sort", reader("-unrfbdgihMVszmcC# -k: -t: --unique --numeric-sort --reverse --version-sort")],
  ["uniq", { ...reader("-cduizD --count --repeated --unique"), words: ({ length }) => length < 2 }],
  ["date", { ...reader("-uIR --utc --iso-8601 --date --rfc-3339"), words: (words) => words.every(isFormat) }],
  ["file", reader("-biLhk --brief --mime --mime-type")],
  ["tree", reader("-adfhspDigx -L: -I: -P: --dirsfirst --noreport --gitignore")],
  [
    "find",
    {
      ...reader(
        "-name -iname -type -path -ipath -wholename -maxdepth -mindepth -not -o -or -a -and -size -mtime -mmin -atime -ctime -newer -empty -print -print0 -prune -regex -iregex -regextype -perm -user -group -links -L -H -P -follow -xdev -mount -depth -true -false -quit -ls -printf -executable -readable -writable",
      ),
      isSingleDash: true,
    },
  ],
  ...each(
    "fd fdfind",
    reader(
      "-HIiasFpgLu0 -e: -t: -d: -E: --type --extension --hidden --no-ignore --glob --full-path --max-depth --exclude",
    ),
  ),
  [
    "rg",
    reader(
      "-nilcwvFsSoUHNILuaqx0P# -g: -t: -T: -A: -B: -C: -e: -m: -M: -d: --hidden --no-ignore --files --json --stats --glob --iglob --type --type-not --files-with-matches --files-without-match --ignore-case --smart-case --fixed-strings --word-regexp --line-number --no-heading --heading --color=never --count --max-count --max-depth --context --sort --multiline --only-matching --no-messages --trim --vimgrep",
    ),
  ],
  [
    "curl",
    reader(
      "-fsSLvIikG46 -m: -A: --fail --silent --show-error --location --verbose --head --include --max-time --connect-timeout --retry --compressed --user-agent --get --http1.1 --http2",
    ),
  ],
  ...each("mkdir touch", { ...reader("-pv --parents --verbose"), words: areOwnFiles }),
  ...each("cp mv rm rmdir", {
    deed: "files",
    options: "-fpvnir --force --verbose --recursive --no-clobber",
    words: areOwnFiles,
  }),
  [
    "make",
    {
      deed: "code",
      options: "-ksnqB -j: --silent --keep-going --dry-run --jobs --no-print-directory",
      words: (words) => words.every((word) => /^[\w./-]+$/.test(word)),
      isUsual: (words) => areUsualNames(words.filter((word) => !/^\d+$/.test(word))),
    },
  ],
  ["pytest", PYTEST],
  ["mypy", { deed: "code", options: "--strict --pretty --no-color-output", words: areOwnFiles }],
  ...each("vitest jest", VITEST),
]);

const cargo = (options = ""): Known => ({
  deed: "code",
  options: `-vq -p: -j: -D: -W: -A: --release --all --workspace --lib --bins --bin --test --tests --example --examples --all-targets --all-features --features --no-default-features --package --verbose --quiet --locked --offline --frozen --jobs --no-run --no-fail-fast --message-format --doc --nocapture --test-threads --ignored --include-ignored --exact --show-output ${options}`,
});
const go: Known = {
  deed: "code",
  options:
    "-run -v -race -count -short -timeout -bench -benchmem -cover -failfast -tags -p -parallel -shuffle -json -m -f -skip",
  isSingleDash: true,
  words: areOwnFiles,
};
const script = (names: string, known: Known): Record<string, Known> => Object.fromEntries(each(names, known));

const PYTHON: KnownProgram = { before: "", subcommands: { "-m·pytest": PYTEST } };

const WITH_SUBCOMMANDS: Readonly<Record<string, KnownProgram>> = {
  git: GIT,
  npm: {
    before: "-s --silent",
    subcommands: {
      ...script("test start stop restart", SCRIPT),
      ...script("run", NAMED_SCRIPT),
      ...script("ci install", INSTALL),
      ...script(
        "ls outdated view explain root ping whoami search",
        reader("-al --json --all --long --depth"),
      ),
      audit: { ...reader("--json --omit"), words: ({ length }) => length === 0 },
    },
  },
  pnpm: {
    before: "-s --silent",
    subcommands: {
      ...script("test build lint check typecheck format", SCRIPT),
      run: NAMED_SCRIPT,
      ...script("install", INSTALL),
      ...script("ls outdated why", reader("-r --json --depth")),
    },
  },
  yarn: {
    before: "-s --silent",
    subcommands: {
      ...script("test build lint check typecheck format", SCRIPT),
      install: INSTALL,
      ...script("why list info outdated", reader("--json --depth")),
    },
  },
  cargo: {
    before: "-q --quiet",
    subcommands: {
      ...script("build check test bench doc clippy", cargo()),
      fmt: cargo("--check"),
      tree: reader("-e: -i: -d --depth"),
    },
  },
  go: {
    before: "",
    subcommands: {
      ...script("build test vet", go),
      list: { ...go, deed: "inert" },
      version: reader(""),
    },
  },
  gh: {
    before: "",
    subcommands: script(
      "pr·view pr·list pr·status pr·diff pr·checks issue·view issue·list issue·status repo·view run·list run·view",
      reader(
        "-L: -s: -q: -R: --json --jq --limit --state --comments --repo --log --name-only --author --label",
      ),
    ),
  },
  node: { before: "", subcommands: { "--test": NODE_TEST } },
  npx: { before: "", subcommands: { vitest: VITEST, jest: VITEST } },
  python: PYTHON,
  python3: PYTHON,
  ruff: { before: "", subcommands: { check: reader("-q --quiet --select --ignore --statistics") } },
};

function isFormat(word: string): boolean {
  return word.startsWith("+");
}

/** Programs that only print their version if that is their one argument. */
export const VERSIONED: ReadonlySet<string | undefined> = new Set([
  ...Object.keys(WITH_SUBCOMMANDS),
  "ruby",
  "php",
  "java",
  "deno",
  "bun",
  "rustc",
]);

/** A program by its name as a shell finds it: alone, or in a folder of the system. */
export function knownProgram(word: string): { name: string; known: Known | KnownProgram } | undefined {
  const [, name = ""] =
    /^(?:\/(?:usr\/)?(?:local\/)?s?bin\/|\/opt\/homebrew\/bin\/)?([\w.[-]+)$/.exec(word) ?? [];
  const known = own(WITH_SUBCOMMANDS, name) ?? own(PROGRAMS, name);
  return known && { name, known };
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
