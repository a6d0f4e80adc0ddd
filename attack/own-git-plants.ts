/** A repository that commands plant for the user's next git command. `$PROGRAM` stands for the program. */
export interface Plant {
  what: string;
  /** Commands of the user before the first isolated command. */
  setup?: string;
  /** Isolated commands, one after another. */
  commands: readonly string[];
  /** Commands of the user afterwards. Default: those that careless programs run. */
  user?: string;
  /** Whether Holdfast is killed while the first command runs. */
  isKilled?: boolean;
  /** Whether the project's programs are first on `PATH`. */
  isOnPath?: boolean;
}

/** Shell functions that create a repository, make it a submodule of the root, and give it a setting. */
export const TOOLS = String.raw`export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=e
make() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m x; }
link() { git update-index --add --cacheinfo "160000,$(git -C "$1" rev-parse HEAD),$1"; }
arm() { git config -f "$1" core.fsmonitor "$PROGRAM"; }
hook() { printf '#!/bin/sh\n%s\n' "$PROGRAM" > "$1"; chmod +x "$1"; }
`;

const SUBMODULE = "make z; link z; arm z/.git/config";
const TWO_SETTINGS =
  "make z; link z; mkdir z/a z/b; cp z/.git/config z/a/conf; cp z/.git/config z/b/conf; arm z/b/conf; rm z/.git/config";

/** An index whose table of blocks sends git to entries that are not in their place. */
const HIDDEN_BLOCKS = String.raw`echo hello | git hash-object -w --stdin; make node_modules/x; arm node_modules/x/.git/config
H=$(git -C node_modules/x rev-parse HEAD) python3 - <<'E'
import struct, hashlib, os
N = 40000
BLOB = 'ce013625030ba8dba906f756967f9e9ca394464a'
def entry(path, mode, sha):
    b = struct.pack('>10I', 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + bytes.fromhex(sha) + struct.pack('>H', len(path))
    return b + path + b'\0' * (8 - (len(b) + len(path)) % 8)
files = [entry(b'a%06d' % i, 0o100644, BLOB) for i in range(N)]
hidden = b''.join(files[:-1]) + entry(b'node_modules/x', 0o160000, os.environ['H'])
body = b'DIRC' + struct.pack('>II', 2, N) + b''.join(files)
start, half = len(body) + 8, N // 2
table = struct.pack('>IIIII', 1, start, half, start + len(files[0]) * half, N - half)
heads = [b'ZZZZ' + struct.pack('>I', len(hidden)), b'IEOT' + struct.pack('>I', len(table))]
mark = struct.pack('>I', len(body)) + hashlib.sha1(b''.join(heads)).digest()
out = body + heads[0] + hidden + heads[1] + table + b'EOIE' + struct.pack('>I', len(mark)) + mark
open('.git/index', 'wb').write(out + hashlib.sha1(out).digest())
E`;

/** A submodule at a path so long that its settings have none. */
const LONG_PATH = String.raw`make t; arm t/.git/config; python3 - <<'E'
import os, subprocess
root = os.getcwd()
head = subprocess.check_output(['git', '-C', 't', 'rev-parse', 'HEAD'], text=True).strip()
path = ('n' + '/' + 'd' * 200 + ('/' + 'd' * 200) * 20)[:4087 - len(root)].rstrip('/')
os.makedirs(path)
os.rename('t/.git', 'n/g')
fd = os.open('n', os.O_RDONLY)
os.chdir(path)
os.rename('g', '.git', src_dir_fd=fd)
os.chdir(root)
subprocess.run(['git', 'update-index', '--add', '--cacheinfo', '160000,{},{}'.format(head, path)], check=True)
E`;

export const PLANTS: readonly Plant[] = [
  {
    what: "a link in a link to settings",
    commands: [
      `${TWO_SETTINGS}; ln -s ../a z/.git/link; ln -s link/conf z/.git/config`,
      "ln -sfn ../b z/.git/link",
    ],
  },
  {
    what: "a folder behind a link to settings",
    commands: [`${TWO_SETTINGS}; ln -s ../a/conf z/.git/config`, "mv z/a z/c; mv z/b z/a"],
  },
  {
    what: "settings of the same age",
    commands: [
      "make z; link z; mkdir node_modules; cp -r z/.git node_modules/g; arm node_modules/g/config; chmod 644 z/.git/config node_modules/g/config",
      "mv z/.git node_modules/old; mv node_modules/g z/.git",
    ],
  },
  {
    what: "a link to hooks",
    commands: [
      "make z; link z; rm -rf z/.git/hooks; mkdir -p z/h/a z/h/b; ln -s a z/h/sub; ln -s ../h/sub z/.git/hooks; hook z/h/b/post-index-change",
      "ln -sfn b z/h/sub; touch -d yesterday z",
    ],
    user: "git -C z status; git status",
  },
  {
    what: "a link to a worktree's settings",
    setup: "git config extensions.worktreeConfig true",
    commands: [
      "mkdir a b; echo '[core]' > a/c; echo '[core]' > b/c; arm b/c; ln -s ../l .git/m; ln -s a l; ln -s ../l/c .git/config.worktree",
      "ln -sfn b l",
    ],
  },
  { what: "a path of 4,088 bytes", commands: [LONG_PATH] },
  { what: "blocks of an index", commands: [HIDDEN_BLOCKS], user: "git config index.threads 4; git status" },
  {
    what: "a folder of a sparse index",
    setup:
      "mkdir c d; echo 1 > c/f; echo 2 > d/f; git add .; git commit -qm two; git sparse-checkout set --cone --sparse-index c",
    commands: [
      String.raw`make d/node_modules/x; arm d/node_modules/x/.git/config; H=$(git -C d/node_modules/x rev-parse HEAD); T1=$(printf '160000 commit %s\tx\n' $H | git mktree --missing); T2=$(printf '040000 tree %s\tnode_modules\n' $T1 | git mktree); T=$(printf '040000 tree %s\td\n100644 blob %s\ta.txt\n040000 tree %s\tc\n' $T2 $(git rev-parse HEAD:a.txt) $(git rev-parse HEAD:c) | git mktree); git reset -q --soft $(git commit-tree -m x $T); mv d e; git read-tree -m HEAD; mv e d`,
    ],
  },
  { what: "a folder that cannot be changed", commands: [`${SUBMODULE}; chmod 555 z/.git`] },
  {
    what: "a folder that cannot be listed",
    commands: ["make n/z; arm n/z/.git/config; chmod 311 n"],
    user: "cd n/z && git status",
  },
  {
    what: "settings that cannot be read",
    commands: [`${SUBMODULE}; chmod 000 z/.git/config`],
    user: "chmod 644 z/.git/config; git status",
  },
  {
    what: "a link below node_modules",
    commands: [
      "make node_modules/c; arm node_modules/c/.git/config; mkdir node_modules/c/src; ln -s node_modules/c/src src",
    ],
    user: "cd src && git status",
  },
  {
    what: "a path that depends on the process",
    commands: [
      "make node_modules/x; link node_modules/x; mv node_modules/x/.git node_modules/x/g; arm node_modules/x/g/config; echo 'gitdir: /proc/self/cwd/g' > node_modules/x/.git",
    ],
  },
  {
    what: "a file that the user's settings include",
    setup:
      "mkdir conf; printf '[core]\\n\\tabbrev = 12\\n' > conf/git; git config include.path ../conf/git; git add .; git commit -qm c",
    commands: ["arm conf/git", "mv conf c; mkdir conf; arm conf/git"],
  },
  {
    what: "a missing file that the user's settings include",
    setup: "git config include.path ../conf/git",
    commands: ["mkdir conf; arm conf/git"],
  },
  {
    what: "the user's folder of hooks",
    setup: "mkdir -p tools/hooks; git config core.hooksPath tools/hooks",
    commands: ["hook tools/hooks/post-index-change; hook tools/hooks/pre-commit"],
    user: "touch -d yesterday a.txt; git status; git commit -qm x --allow-empty",
  },
  {
    what: "the user's missing folder of hooks",
    setup: "git config core.hooksPath tools/hooks",
    commands: ["mkdir -p tools/hooks; hook tools/hooks/post-index-change; hook tools/hooks/pre-commit"],
    user: "touch -d yesterday a.txt; git status; git commit -qm x --allow-empty",
  },
  {
    what: "settings that stay after a kill",
    commands: [
      "cp -r .git lib-git; arm lib-git/config; echo ../lib-git > .git/commondir; touch started; sleep 20",
      "ls",
    ],
    isKilled: true,
  },
  {
    what: "programs on PATH",
    commands: [
      "mkdir -p node_modules/.bin bin; for p in bwrap git rg grep sleep ps prlimit; do hook node_modules/.bin/$p; hook bin/$p; done",
      "make q; git -C q config core.fsmonitor x; echo hi",
    ],
    user: "true",
    isOnPath: true,
  },
];
