import type { Deed, Known, KnownProgram } from "./forms.ts";

/** Options that choose which commits and lines are shown. */
const DIFF =
  "-pusabwzRWrtmcMBDiEFPgqC# -U: -S: -G: -L: -n: -l: --stat --shortstat --numstat --dirstat --summary --name-only --name-status --patch --no-patch --raw --unified --cached --staged --merge-base --word-diff --word-diff-regex --color-words --color --no-color --find-renames --find-copies --no-renames --diff-filter --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --function-context --relative --abbrev --full-index --binary --exit-code --quiet --check --minimal --patience --histogram --diff-algorithm --indent-heuristic --pickaxe-regex --pickaxe-all --text --compact-summary --cc --no-ext-diff --no-textconv --submodule";
const LOG = `${DIFF} --oneline --graph --all --branches --tags --remotes --decorate --no-decorate --merges --no-merges --first-parent --reverse --follow --since --until --after --before --author --committer --grep --invert-grep --all-match --max-count --skip --format --pretty --date --date-order --topo-order --author-date-order --abbrev-commit --no-abbrev-commit --left-right --cherry-pick --cherry-mark --ancestry-path --simplify-by-decoration --full-history --parents --children --boundary --walk-reflogs --source --no-walk --left-only --right-only --count --objects --no-notes --use-mailmap --no-mailmap --encoding`;

const inert = (options: string, words?: Known["words"]): Known => ({ deed: "inert", options, words });
const files = (options: string, words?: Known["words"]): Known => ({ deed: "files", options, words });
const beginsWith =
  (...names: string[]) =>
  ([first = ""]: readonly string[]): boolean =>
    names.includes(first);

/** A remote by a usual name, and refs that neither delete nor overwrite: an address may have programs of its own. */
const isUsualRemote = ([remote = "origin", ...refs]: readonly string[]): boolean =>
  ["origin", "upstream"].includes(remote) && refs.every((ref) => !/^[+:]|::/.test(ref));

/** Commands whose first word is a remote. */
const toRemote = (known: Known): Known => ({ ...known, words: isUsualRemote, remote: ([name]) => name });

/** A new branch at the present commit changes no file. */
const isNewBranch = (args: readonly string[]): boolean =>
  args.length === 2 && ["-c", "-b"].includes(args[0]!) && !args[1]!.startsWith("-");
const switching = (args: readonly string[]): Deed => (isNewBranch(args) ? "inert" : "files");
const resetting = (args: readonly string[]): Deed =>
  args.some((arg) => ["--hard", "--merge", "--keep"].includes(arg)) ? "files" : "inert";

export const GIT: KnownProgram = {
  before:
    "-P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --no-lazy-fetch --no-advice",
  subcommands: {
    log: inert(LOG),
    show: inert(LOG),
    whatchanged: inert(LOG),
    reflog: inert(LOG, ([first = "show"]) => !["expire", "delete", "drop", "exists"].includes(first)),
    "rev-list": inert(LOG),
    shortlog: inert("-snec --numbered --summary --email --all --since --until --group --no-merges"),
    diff: inert(DIFF),
    "diff-tree": inert(`${DIFF} --root --no-commit-id`),
    "diff-index": inert(DIFF),
    "diff-files": inert(DIFF),
    "range-diff": inert(DIFF),
    status: inert(
      "-sbvz -u: --short --branch --porcelain --long --verbose --untracked-files --ignored --ahead-behind --renames --no-renames --column --show-stash",
    ),
    grep: inert(
      "-nilLwvcEFPhHoqWpaIr# -e: -A: -B: -C: --cached --untracked --line-number --count --files-with-matches --ignore-case --and --or --not --heading --break --show-function --function-context --max-depth --color --no-color --column --fixed-strings --extended-regexp --perl-regexp --word-regexp --name-only",
    ),
    blame: inert(
      "-wCMesltfnpcb# -L: --porcelain --line-porcelain --show-email --date --since --reverse --root",
    ),
    annotate: inert("-wCMl -L:"),
    describe: inert(
      "--tags --all --always --dirty --long --abbrev --match --exclude --contains --exact-match --first-parent",
    ),
    "rev-parse": inert(
      "-q --short --verify --abbrev-ref --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --symbolic --symbolic-full-name --all --branches --tags --quiet --show-current --git-path --absolute-git-dir",
    ),
    "ls-files": inert(
      "-omcdsiktzvu -x: --others --modified --cached --deleted --stage --ignored --exclude-standard --error-unmatch --full-name --unmerged --exclude --directory --no-empty-directory --deduplicate --eol",
    ),
    "ls-tree": inert("-rdtlz --name-only --name-status --full-name --full-tree --abbrev --format --long"),
    "cat-file": inert("-ptse"),
    "show-ref": inert("-sqd --heads --tags --verify --hash --head --dereference --branches --quiet"),
    "for-each-ref": inert("--format --sort --count --points-at --merged --no-merged --contains"),
    "name-rev": inert("--tags --name-only --always --refs --all"),
    "merge-base": inert("-a --all --is-ancestor --fork-point --octopus --independent"),
    cherry: inert("-v --abbrev"),
    "count-objects": inert("-vH --verbose --human-readable"),
    "check-ignore": inert("-vnq --verbose --no-index"),
    branch: inert(
      "-arvlmdq --all --remotes --verbose --list --show-current --merged --no-merged --contains --no-contains --points-at --sort --format --color --no-color --column --move --delete --abbrev --no-abbrev --no-track",
    ),
    tag: inert(
      "-lad -n: -m: --list --sort --contains --no-contains --points-at --merged --message --format --annotate --delete",
    ),
    remote: {
      ...inert(
        "-v --verbose",
        ([first, ...names]) =>
          first === undefined || (["show", "get-url"].includes(first) && isUsualRemote(names)),
      ),
      remote: ([_first, name]) => name,
    },
    worktree: inert("-v --verbose --porcelain", beginsWith("list")),
    add: inert(
      "-AunvN --all --update --dry-run --verbose --intent-to-add --no-all --ignore-removal --refresh",
    ),
    commit: inert(
      "-aqsv -m: --message --all --amend --no-edit --allow-empty --signoff --dry-run --quiet --short --fixup --squash --author --date --reset-author --verbose --only --include",
    ),
    fetch: toRemote(
      inert(
        "-ptqv --prune --tags --no-tags --all --depth --deepen --unshallow --dry-run --quiet --verbose --prune-tags",
      ),
    ),
    push: toRemote(
      inert(
        "-unqv --set-upstream --dry-run --quiet --verbose --tags --follow-tags --porcelain --atomic --verify --progress",
      ),
    ),
    reset: { deed: resetting, options: "-qN --quiet --soft --mixed --hard --merge --keep --intent-to-add" },
    switch: {
      deed: switching,
      options: "-cdqC --create --detach --quiet --guess --no-guess --discard-changes",
    },
    checkout: { deed: switching, options: "-bqfB --quiet --force --detach --ours --theirs --track" },
    restore: files("-SWq -s: --staged --worktree --source --quiet --ours --theirs"),
    merge: files(
      "-qnv -m: --ff --ff-only --no-ff --no-edit --squash --abort --continue --quit --quiet --no-commit --stat --no-stat --no-verify-signatures",
    ),
    pull: toRemote(
      files("-qv --rebase --no-rebase --ff-only --no-ff --no-edit --quiet --prune --tags --autostash"),
    ),
    rebase: files(
      "-qv --onto --continue --abort --skip --quit --quiet --autostash --no-autostash --keep-base --update-refs",
    ),
    "cherry-pick": files("-xn -m: --continue --abort --skip --quit --no-commit --no-edit --ff"),
    revert: files("-n -m: --continue --abort --skip --quit --no-commit --no-edit"),
    stash: {
      deed: ([first]) => (first === "list" || first === "show" ? "inert" : "files"),
      options:
        "-uqkap -m: --include-untracked --message --quiet --keep-index --all --index --staged --patch --stat",
    },
    rm: files("-rfqn --cached --force --quiet --dry-run --ignore-unmatch"),
    mv: files("-fknv --force --dry-run --verbose"),
    clean: files("-fdnxXq --force --dry-run --quiet"),
  },
};
