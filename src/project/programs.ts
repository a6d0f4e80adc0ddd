/** Arguments by which a program runs other programs or writes files, which its name does not suggest. */
interface Program {
  names: string;
  reason: string;
  /** Such options, in any abbreviation; short ones also in a cluster. Without any, every call counts as hazardous. */
  options?: string;
  /** Options are whole words after one dash, and `--` does not end them. */
  isSingleDash?: boolean;
  /** Other such arguments. */
  words?: RegExp;
  /** The only safe subcommands, each with its own hazardous options. */
  subcommands?: Readonly<Record<string, string>>;
  /** Safe options before the subcommand. */
  before?: string;
}

const PACKAGE_OPTIONS =
  "-C -c -g -w --script-shell --prefix --dir --cwd --userconfig --globalconfig --npmrc-auth-file --node-options --shell --shell-mode --shell-emulator --editor --viewer --browser --git --call --global --location --workspace --filter --registry --use-yarnrc --rc --cache --init-module --onload-script --pnpmfile --global-pnpmfile --hooks-dir --cafile --config --config-dir --modules-folder --package";

const each = (names: string): Record<string, string> =>
  Object.fromEntries(names.split(" ").map((name) => [name, ""]));

const PROGRAMS: readonly Program[] = [
  {
    names: "sh ash bash dash zsh ksh rbash fish csh tcsh busybox toybox pwsh powershell cmd wsl",
    reason: "runs a script",
  },
  { names: "eval exec source . command builtin trap coproc", reason: "the shell runs its words" },
  {
    names:
      "alias unalias hash enable export declare typeset local readonly set shopt bind complete compgen mapfile readarray read unset let getopts fc history umask",
    reason: "changes what later words mean, or runs code in an index",
  },
  {
    names:
      "env nice nohup setsid timeout stdbuf time xargs parallel watch strace ltrace gdb lldb valgrind perf sudo doas su runuser chroot unshare nsenter flock script chrt ionice taskset firejail bwrap systemd-run at batch crontab caffeinate entr expect unbuffer setarch prlimit numactl catchsegv ld.so ld-linux-x86-64.so start-stop-daemon watchexec nodemon concurrently pkexec rlwrap cpulimit choom capsh run-parts ip mount tcpdump logrotate open xdg-open start",
    reason: "runs the program that follows",
  },
  {
    names:
      "node nodejs deno bun ts-node tsx python pythonw pypy ipython perl ruby irb php lua luajit osascript awk gawk mawk nawk tclsh wish rscript r julia java jshell groovy scala kotlin ghci runghc erl elixir iex guile racket sbcl clisp gnuplot sqlite psql mysql redis-cli m4 bc dc tclsh",
    reason: "its arguments are code, or a file of it",
  },
  {
    names:
      "npx bunx pnpx uvx uv pipx corepack mise asdf direnv nix nix-shell nix-build poetry pipenv hatch rye tox nox bundle rake just task",
    reason: "runs programs by name",
  },
  {
    names:
      "sed gsed ed ex vi vim nvim view nano rvim gvim vimdiff sdiff code zed emacs emacsclient less more most pg man info screen tmux",
    reason: "has commands of its own that write and run",
  },
  {
    names: "ssh scp sftp rsync ftp lftp nc ncat netcat socat telnet mosh rclone openssl gpg",
    reason: "runs commands elsewhere, or moves files",
  },
  {
    names:
      "tee dd cp mv ln install truncate patch xxd uniq split csplit shred mkfifo mknod sponge tar bsdtar zip unzip gzip gunzip bzip xz zstd 7z cpio ar pax",
    reason: "writes files that its arguments name",
  },
  {
    names:
      "cc gcc g++ c++ clang clang++ ld as rustc ghc javac gradle gradlew mvn mvnw ant sbt cmake ninja meson bazel buck scons docker podman nerdctl kubectl helm terraform ansible ansible-playbook vagrant dotnet msbuild swift zig mix stack cabal lein clojure apt apt-get dpkg yum dnf brew pacman",
    reason: "has many arguments that run programs",
  },
  {
    names: "find gfind",
    reason: "-exec runs, -fprint writes, -delete removes",
    options: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
    isSingleDash: true,
  },
  { names: "fd fdfind", reason: "runs a program for each file", options: "-x -X --exec --exec-batch" },
  {
    names: "rg ripgrep",
    reason: "--pre runs a program for each file",
    options: "--pre --pre-glob --hostname-bin -z --search-zip",
  },
  {
    names: "ag ack",
    reason: "runs a pager, or code from its settings",
    options: "--pager --ackrc --output --filter -z --search-zip",
  },
  {
    names: "sort gsort",
    reason: "writes, or runs a program to compress",
    options: "-o --output --compress-program -T --temporary-directory",
  },
  { names: "shuf tree iconv base64", reason: "writes to a file", options: "-o --output --output-file" },
  { names: "yq", reason: "changes files in place", options: "-i --inplace -s --split-exp --split-exp-file" },
  { names: "date", reason: "sets the clock", options: "-s --set" },
  {
    names: "file",
    reason: "runs a program to decompress, or compiles",
    options: "-z -Z -C -m --uncompress --compile --magic-file",
  },
  { names: "test [", reason: "-v runs code in an index", options: "-v", isSingleDash: true },
  { names: "printf", reason: "-v sets a variable, and runs code in its index", options: "-v" },
  {
    names: "curl",
    reason: "writes what it gets, and sends files",
    options:
      "-o -O -J -K -D -c -T -F -d -w --output --output-dir --remote-name --remote-name-all --remote-header-name --config --dump-header --cookie-jar --upload-file --form --form-string --data --data-binary --data-raw --data-urlencode --data-ascii --json --write-out --trace --trace-ascii --trace-config --stderr --libcurl --etag-save --hsts --alt-svc --engine --unix-socket --ssl-sessions --netrc-file",
  },
  { names: "wget wget2 aria2c axel http https xh", reason: "writes what it gets" },
  {
    names: "make gmake bmake",
    reason: "takes rules, a shell and other folders by argument",
    options:
      "-f -C -I -E -W -o --file --makefile --directory --include-dir --eval --what-if --new-file --assume-new --old-file --assume-old",
    words: /[=:$]/,
  },
  {
    names: "npm",
    reason: "runs packages, or a shell that is named",
    options: PACKAGE_OPTIONS,
    before: "-s --silent --version",
    subcommands: each(
      "test t tst run run-script start stop restart ci clean-install i install add ls list ll outdated audit view info show why explain fund search ping whoami root prune dedupe uninstall remove rm help",
    ),
  },
  {
    names: "pnpm yarn",
    reason: "runs packages, or a shell that is named",
    options: PACKAGE_OPTIONS,
    words:
      /^(?:exec|x|dlx|init|create|config|c|set|link|ln|node|plugin|import|patch|patch-commit|env|rebuild|rb|publish|login|run-p|self-update)$/,
  },
  {
    names: "cargo",
    reason: "runs programs, or settings that name them",
    options: "-C -Z --config --manifest-path --target-dir --out-dir --artifact-dir --lockfile-path --root",
    words: /^(?:\+.*|run|r|install|init|new|script|.*\.rs|vendor|rustc|rustdoc|fix|login|publish)$/,
  },
  {
    names: "go",
    reason: "runs programs that arguments name",
    options:
      "-exec -toolexec -vettool -overlay -modfile -modcacherw -o -C -ldflags -gcflags -asmflags -gccgoflags -compiler -pkgdir -cpuprofile -memprofile -blockprofile -mutexprofile -coverprofile -trace -outputdir -w -u -args",
    isSingleDash: true,
    words: /^(?:run|generate|tool|install|env|get|work|telemetry|bug|fix)$/,
  },
  {
    names: "gh glab",
    reason: "has aliases and extensions",
    words: /^(?:alias|extension|extensions|ext|api|config|codespace|cs|gist|browse|auth|run|release)$/,
  },
  {
    names: "git",
    reason: "settings, tools and remotes that arguments name are programs",
    options:
      "-O --output --output-directory --ext-diff --textconv --filters --exec --upload-pack --receive-pack --open-files-in-pager --template --config --config-env --separate-git-dir --edit-description --strategy --git-dir --work-tree --exec-path --interactive --edit --pathspec-from-file --server-option --recurse-submodules --gpg-sign --tool --extcmd",
    words: /::/,
    before:
      "--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice --version",
    subcommands: {
      ...each(
        "status log show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file show-ref for-each-ref name-rev merge-base cherry diff-tree diff-index diff-files count-objects whatchanged range-diff reflog branch tag add rm mv reset restore switch checkout stash fetch push",
      ),
      diff: "-o",
      grep: "-O",
      commit: "-e",
      merge: "-s",
      revert: "-s",
      "cherry-pick": "-s",
      pull: "-s",
    },
  },
];

/** Remotes given by address or folder: another repository may have hooks. */
const REMOTE_ADDRESS = /^[./~]|:\/\/|@/;
const WITH_REMOTE = ["fetch", "pull", "push"];

const BY_NAME = new Map(
  PROGRAMS.flatMap((program) => program.names.split(" ").map((name) => [name, program] as const)),
);

/** The name of a program without its folder, extension and version, in lower case. */
export function programName(word: string): string {
  const base = word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).toLowerCase();
  const plain = base.replace(/\.(?:exe|cmd|bat|com|ps1)$/, "");
  if (BY_NAME.has(plain)) return plain;
  return plain.replace(/[\d.-]{1,20}$/, "") || plain;
}

/**
 * The reason why a rule with a star must not allow a command; undefined if it may. A word that the shell expands is
 * undefined.
 */
export function hazardOf([name, ...args]: readonly (string | undefined)[]): string | undefined {
  if (name === undefined) return "its program is not known";
  const program = BY_NAME.get(programName(name));
  if (!program) return undefined;
  const list = args.filter((arg) => arg !== undefined);
  return isRunner(program) || list.length < args.length || hasHazard(program, list)
    ? program.reason
    : undefined;
}

/** Whether a program may run commands that its arguments contain. */
export function mayRunArguments(name: string): boolean {
  const program = BY_NAME.get(programName(name));
  return program !== undefined && (isRunner(program) || program.isSingleDash === true);
}

function isRunner({ options, words, subcommands }: Program): boolean {
  return options === undefined && words === undefined && subcommands === undefined;
}

function hasHazard(program: Program, args: readonly string[]): boolean {
  const { options = "", words, subcommands, before = "", isSingleDash = false } = program;
  let rest = args;
  let subcommandOptions = "";
  if (subcommands) {
    const at = args.findIndex((arg) => !arg.startsWith("-"));
    const early = at < 0 ? args : args.slice(0, at);
    if (early.some((arg) => !before.split(" ").includes(arg))) return true;
    if (at < 0) return false;
    const name = args[at]!;
    if (!Object.hasOwn(subcommands, name)) return true;
    subcommandOptions = subcommands[name]!;
    rest = args.slice(at + 1);
    if (WITH_REMOTE.includes(name) && rest.some((arg) => REMOTE_ADDRESS.test(arg))) return true;
  }
  const end = isSingleDash ? -1 : rest.indexOf("--");
  const parsed = end < 0 ? rest : rest.slice(0, end);
  const list = `${options} ${subcommandOptions}`.split(" ").filter(Boolean);
  const isOption = isSingleDash ? isWholeOption : isAnyOption;
  return parsed.some((arg) => isOption(arg, list) || words?.test(arg) === true);
}

/** Whether a word is one of the options, as `-name` or `--name`, also with `=value`. */
function isWholeOption(word: string, options: readonly string[]): boolean {
  const [name = ""] = word.split("=", 1);
  return options.includes(name.replace(/^--?(?:test\.)?/, "-"));
}

/** Whether a word contains one of the options: abbreviated, with a value, or in a cluster. */
function isAnyOption(word: string, options: readonly string[]): boolean {
  if (!word.startsWith("-") || word === "-" || word === "--") return false;
  if (!word.startsWith("--"))
    return options.some((option) => option.length === 2 && word.includes(option[1]!));
  const [name = ""] = word.split("=", 1);
  return options.some((option) => option.startsWith("--") && option.startsWith(name));
}
