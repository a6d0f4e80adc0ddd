/** A rule's pattern and a line that does something else than the pattern names. `@` stands for the folder it runs in. */
export type AllowLine = readonly [pattern: string, line: string];

const lines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

/** Programs that run the words after them. */
const RUNNERS = lines(String.raw`
env
env -i PATH=/usr/bin:/bin
env --
env A=b
/usr/bin/env
nice
nice -n 1
nohup
setsid
setsid -w
timeout 5
timeout -k 1 5
stdbuf -o0
time
/usr/bin/time
xargs -a /dev/null
setpriv
setpriv --nnp
ssh-agent
script -q /dev/null -c
chrt -o 0
chrt -b 0
ionice
ionice -c 3
taskset 1
flock a
unshare
unshare -r
prlimit
prlimit --nofile=100
setarch x86_64
linux64
choom -n 0 --
fakeroot
strace -o /dev/null
ltrace
gdb -batch -ex run --args
valgrind
perf stat
sudo
sudo -n
doas
su -c
runuser -u root --
pkexec
chroot /
nsenter -t 1 -m
bwrap --bind / /
firejail
systemd-run --pipe
dbus-run-session
dbus-launch
xvfb-run
start-stop-daemon --start --exec
run-parts
capsh --
rlwrap
unbuffer
expect -c spawn
socat - exec:
parallel :::
dumb-init
tini --
gosu root
su-exec root
chpst
envdir .
softlimit
setlock a
cgexec
numactl
cpulimit -l 50
catchsegv
/lib64/ld-linux-x86-64.so.2
direnv exec .
dotenv
dotenvx run --
nodemon -x
watchexec
entr
tsx
npx
npx -c
npm exec --
npm x --
pnpm exec
yarn exec
bunx
pipx run
pipenv run
poetry run
uv run
uvx
hatch run
bundle exec
mise x --
asdf exec
nix-shell --run
nix develop -c
busybox env
busybox sh -c
busybox xargs
toybox env
git bisect run
git submodule foreach
git for-each-repo --config=a.b
exec
command
builtin command
eval
coproc
trap
watch -g
at now -f
batch
hyperfine
multitime
cross-env A=b
concurrently
gpg-agent --daemon
torsocks
proxychains
faketime now
schroot --
distrobox enter --
flatpak-spawn --host
arch -x86_64
caffeinate
`);

const SHELLS = lines(`
sh -c
bash -c
dash -c
bash -lc
bash --norc -c
sh -ec
rbash -c
env sh -c
/bin/sh -c
sh -- -c
env -i sh -c
busybox sh -c
zsh -c
ksh -c
fish -c
pwsh -c
`);

/** Programs that run what they read. */
const READERS = lines(`
sh
bash
dash
sh -s
bash -s x
sh /dev/stdin
. /dev/stdin
source /dev/stdin
eval "$(cat)"
xargs -I{} sh -c {}
xargs -0 sh -c
env sh
tee .envrc | sh
while read x; do $x; done
busybox sh
python3 -c 'import os,sys;os.system(sys.stdin.read())'
perl -e 'system(<STDIN>)'
awk '{system($0)}'
sed -n 1e
at now
parallel
make -f -
node -
ed
`);

/** Each runs the command \`%\`, which has no single quotes. */
const INTERPRETERS = lines(String.raw`
python3 -c 'import os; os.system("%")'
python3 -Ic 'import subprocess; subprocess.run("%", shell=True)'
python -c 'import os; os.system("%")'
perl -e 'system("%")'
perl -we 'exec("%")'
perl -MPOSIX -e 'system("%")'
ruby -e 'system("%")'
php -r 'system("%");'
lua -e 'os.execute("%")'
node -e 'require("child_process").execSync("%")'
node --eval='require("child_process").execSync("%")'
node -p 'require("child_process").execSync("%")+""'
deno eval 'new Deno.Command("sh",{args:["-c","%"]}).outputSync()'
awk 'BEGIN{system("%")}'
gawk 'BEGIN{system("%")}'
mawk 'BEGIN{system("%")}'
awk 'BEGIN{"%"|getline}'
awk 'BEGIN{print "%"|"sh"}'
sed -n '1e %' a
sed '1e %' a
find . -maxdepth 0 -exec sh -c '%' ';'
find . -maxdepth 0 -exec % ';'
find . -maxdepth 0 -execdir sh -c '%' ';'
find . -maxdepth 0 -ok sh -c '%' ';'
find a -exec % +
tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec='%'
tar cf /dev/null -I 'sh -c "%"' a
make --eval='x:;%' x
make -s SHELL=/bin/sh --eval='x:;%' x
sort --compress-program=./evil -S 1k big
split --filter='%' a
git -c alias.x='!%' x
git -c core.pager='%' -p log -1
git -c core.fsmonitor='%;:' status
git -c diff.external='%;:' diff HEAD~1
git -c core.editor='%;:' commit --allow-empty
git -c core.sshCommand='%;:' fetch ssh://x/y
git -c sequence.editor='%;:' rebase -i HEAD~1
git rebase -x '%' HEAD~1
git rebase --exec '%' HEAD~1
git submodule foreach '%'
git difftool -y -x '%' HEAD~1
git difftool --extcmd='%' -y HEAD~1
git grep -O'%;:' one
git grep --open-files-in-pager='%;:' one
git filter-branch -f --tree-filter '%' HEAD
git bisect start HEAD HEAD~1 && git bisect run sh -c '%'
git fetch --upload-pack='%;:' origin
git fetch -q ext::'sh -c %'
git push --receive-pack='%;:' origin
git push --exec='%;:' origin
git push -o -- --receive-pack='%;:' origin
git archive --remote=origin --exec='%;:' HEAD
git ls-remote --upload-pack='%;:' origin
git clone -u '%;:' . x
git config alias.y '!%' && git y
git config core.fsmonitor '%;:' && git status
rg --pre ./evil one
fd -x % {}
ssh -o ProxyCommand='%' host
scp -S ./evil a host:b
rsync -e './evil' a host:b
vim -es -c ':!%' -c q
ex -sc '!%' -c q a
gdb -batch -ex 'shell %'
sqlite3 :memory: '.shell %'
m4 -DX='syscmd(%)' a
dc -e '!%'
tclsh -c 'exec %'
expect -c 'system %'
emacs --batch --eval '(shell-command "%")'
gnuplot -e 'system("%")'
octave --eval 'system("%")'
zip -T -TT '%' x.zip a
man -P '%' git
less +'!%' a
git -p -c pager.log='%' log -1
crontab evil
env -S'sh -c "%"'
env -S 'sh -c "%"'
env --split-string='sh -c "%"'
xargs -a a -I{} %
`);

/** Ways to write \`.envrc\` that the rule for the program does not name. */
const WRITES = lines(String.raw`
git diff --no-index --output=.envrc a b
git diff --no-index -S -- --output=.envrc a b
git diff --no-index -G -- --output=.envrc a b
git diff --no-index --output .envrc a b
git diff --no-index -U -- --output=.envrc a b
git diff --output=.envrc HEAD~1 -- a
git grep -e -- --output=.envrc
git blame --contents -- --output=.envrc a
git archive --output=.envrc HEAD
git archive -o .envrc HEAD
git bundle create .envrc HEAD
git format-patch -1 -o .git/hooks
git format-patch -1 --output=.envrc
git format-patch -1 --output-directory=.vscode
git mv a .envrc
git mv -f a .envrc
git mv -- a .envrc
git mv a .vscode
git checkout other -- .envrc
git checkout other
git checkout other .
git checkout -f other
git checkout -q other -- .
git checkout --detach other
git checkout -B x other
git checkout -b x other
git switch other
git switch -d other
git switch --detach other
git switch -C x other
git switch -c x other
git restore --source=other .envrc
git restore -s other .
git restore --source other --worktree .
git merge other
git merge --no-edit other
git merge --ff-only other
git merge --squash other
git pull . other
git pull -q origin other
git pull --ff-only origin other
git rebase other
git rebase --onto other HEAD~1
git cherry-pick other
git cherry-pick -n other
git revert --no-edit removed
git reset --hard other
git reset -q --hard other
git reset --merge other
git reset --keep other
git read-tree -u -m HEAD other
git read-tree --reset -u other
git read-tree other && git checkout-index -a
git checkout-index -f .envrc
git worktree add .vscode other
git stash pop
git stash apply
git stash pop stash@{0}
git stash branch x
git apply evil.patch
git apply --index evil.patch
git am evil.patch
git clone . .vscode
git clone --branch other . x
git init --template=tpl .
git init .vscode
git submodule add ./sub .vscode
git sparse-checkout set .envrc
git update-index --cacheinfo 100644,$(git rev-parse other:.envrc),.envrc && git checkout-index -a
git show other:.envrc > .envrc
git rm --cached a; git mv b .envrc
git config core.hooksPath .
git config --file .envrc a.b c
git config -f .envrc a.b c
git config --global a.b c
git notes --ref=x add -F a
git replace HEAD HEAD~1
git fast-export --export-marks=.envrc HEAD
git fast-export --export-marks .envrc --all
git rev-list --all --objects > .envrc
git pack-objects .vscode < a
git shortlog --output=.envrc HEAD
git shortlog -sn HEAD --output=.envrc
sort -o .envrc a
sort -o.envrc a
sort -uo .envrc a
sort -uo.envrc a
sort --output=.envrc a
sort --output .envrc a
sort --outp=.envrc a
sort a -o .envrc
sort a -- b -o .envrc
sort --random-source -- -o .envrc a
sort --random-source=a -o .envrc a
sort -k 1 -o .envrc a
sort -t -- -o .envrc a
sort -t x -o .envrc a
sort -S -- -o .envrc a
sort -T . -o .envrc a
sort -T -- -o .envrc a
sort --parallel -- -o .envrc a
sort --files0-from -- -o .envrc
sort --batch-size -- -o .envrc a
sort -nk1 -o.envrc a
uniq a .envrc
uniq -- a .envrc
uniq -c a .envrc
uniq -f -- a .envrc
uniq - .envrc
curl -o .envrc file://@/a
curl -so .envrc file://@/a
curl -s file://@/a -o .envrc
curl -A -- -o .envrc file://@/a
curl -A x -o .envrc file://@/a
curl -H -- -o .envrc file://@/a
curl -e -- -o .envrc file://@/a
curl -b -- -o .envrc file://@/a
curl -m -- -o .envrc file://@/a
curl -X -- -o .envrc file://@/a
curl --user-agent -- --output .envrc file://@/a
curl --output .envrc file://@/a
curl --output=.envrc file://@/a
curl --outp .envrc file://@/a
curl -so.envrc file://@/a
curl -fsSLo .envrc file://@/a
curl -s -D .envrc file://@/a
curl -s -c .envrc file://@/a
curl -s --trace .envrc file://@/a
curl -s --stderr .envrc -v file://@/a
curl -s --libcurl .envrc file://@/a
curl -s -w '%output{.envrc}x' file://@/a
curl -s -K curlrc file://@/a
curl -s --etag-save .envrc file://@/a
wget -O .envrc file://@/a
tree -o .envrc
shuf -o .envrc a
shuf -e x -o .envrc
iconv -o .envrc a
yes x | head -1 > .envrc
tee .envrc
dd if=a of=.envrc
cp a .envrc
cp -- a .envrc
cp -t . x/.envrc
cp -r x/. .
cp -rT x .
cp x/.envrc x/b .
mv a .envrc
mv -T a .envrc
ln -s a .envrc
ln -f a .envrc
install a .envrc
install -D a .vscode/tasks.json
rsync a .envrc
rsync -a x/ .
tar xf x.tar
tar cf .envrc a
tar -xf x.tar -C .
zip .envrc a
unzip -o x.zip
patch -o .envrc a evil.patch
patch -p1 -i evil.patch
split -b 100 a .env
csplit -f .env a 1
xxd a .envrc
truncate -s 1 .envrc
touch .envrc
touch -- .envrc
touch src/../.envrc
touch a .envrc
touch AGENTS.md
touch @/.envrc
touch ~/.profile
mkdir .vscode
mkdir -p .git/hooks/x
mkdir -p src/.cursor/rules
sed -i s/one/two/ .envrc
sed -n 'w .envrc' a
sed -nw.envrc a
awk '{print > ".envrc"}' a
perl -pe 'BEGIN{open F,">.envrc"}' a
find a -fprint .envrc
find a -fprintf .envrc x
find a -fprint0 .envrc
find a -fls .envrc
find . -name .gitignore -delete
find -- a -fprint .envrc
find a -name -- -fprint .envrc
find a -newer -- -fprint .envrc
go build -o .envrc
go test -coverprofile=.envrc
go test -run -- -coverprofile=.envrc
go test -args -test.coverprofile=.envrc
cargo build --target-dir .vscode
cargo test -- --logfile .envrc
make -f evil.mk
make -C x
make -I x
make MAKEFILES=evil.mk
make -j 2 -f evil.mk
make -j -- -f evil.mk
make a=b --file evil.mk
make --eval 'x:;cp a .envrc' x
npm test -- --outputFile=.envrc
npm test --prefix=x
npm --prefix x test
npm -C x test
npm test --script-shell=./evil
npm run test --script-shell ./evil
npm test --userconfig=x/npmrc
npm pkg set scripts.test=./evil
npm config set script-shell ./evil
npm install ./x
npm install --prefix x
npm ci --prefix=x
npm ci --script-shell=./evil
npm init -y x
npm version patch
npm pack --pack-destination=.vscode
npm link ./x
npm edit a
npm explore a -- ./evil
npm audit fix
pytest --junitxml=.envrc
pytest -p evil
pytest -c evil.ini
pytest --basetemp=.vscode
pytest --rootdir=/tmp -o cache_dir=.vscode
pytest -k -- --junitxml=.envrc
pytest @/../outside/evil.py
jq -n '"x"' > .envrc
echo x >> .envrc
echo x >| .envrc
echo x 1>.envrc
echo x &> .envrc
printf x > .envrc
cat a > .envrc
cat > .envrc < a
: > .envrc
> .envrc
`);

/** Syntax that runs `%` around a harmless command `&`. `@NL` is a new line. */
const EXPANSIONS = lines(String.raw`
& $(%)
& "$(%)"
& ${"`"}%${"`"}
& "${"`"}%${"`"}"
& <(%)
& >(%)
& \${X:-$(%)}
& \${X:=$(%)}
& "\${X:-$(%)}"
& $(( $(%) ))
& $((a[$(%)]))
& \${a[$(%)]}
& | sh -c '%'
& ; %
& ;%
& @AND %
& @AND@AND %
& || %
&; (%)
& @AND@AND { %; }
% | &
% @AND@AND &
(%) ; &
! % ; &
if %; then &; fi
while %; do &; break; done
for i in $(%); do &; done
case $(%) in *) &;; esac
f() { %; }; f; &
X=$(%) &
X=$(%); &
[[ -v a[$(%)] ]]; &
test -v 'a[$(%)]'; &
& <<E@NL$(%)@NLE
& <<< $(%)
& > >(%)
& 2> >(sh -c '%')
time % ; &
& |@AND %
coproc % ; &
X='%'; $X; &
set -- %; "$@"; &
& $(echo %|sh)
trap '%' EXIT; &
alias zz='%'@NLzz
export PATH=.; evil; &
PATH=.:$PATH evil; &
PATH=. & evil
cd . @AND@AND % @AND@AND &
. ./x.sh; &
source ./x.sh; &
&@NL%
`);

const HARMLESS = ["echo a", "git status", "ls", "cat a", "npm test", "git diff", "grep one a"];
const EVIL = "./evil";

const written = (line: string): string =>
  line.replaceAll("@NL", "\n").replaceAll("@AND", "&").replaceAll("\\$", "$");
const first = (line: string): string => /^[^\s]+/.exec(line)?.[0] ?? "";
const firstTwo = (line: string): string => line.split(" ").slice(0, 2).join(" ");

/** Lines that rules for something else must not let pass: each runs `./evil`, or writes a file that programs obey. */
export function allowLines(): AllowLine[] {
  const pairs: AllowLine[] = [
    ...WRITES.flatMap((line): AllowLine[] => [
      [`${first(line)} *`, line],
      [`${firstTwo(line)}*`, line],
    ]),
    ...RUNNERS.map((runner): AllowLine => [`${first(runner)} *`, `${runner} ${EVIL}`]),
    ...INTERPRETERS.map((line): AllowLine => [`${first(line)} *`, line.replaceAll("%", () => EVIL)]),
    ...SHELLS.map((shell): AllowLine => [`${first(shell)} *`, `${shell} ${EVIL}`]),
    ...READERS.flatMap((reader) =>
      ["cat x.sh", "echo ./evil", "git show HEAD:x.sh", "tail x.sh"].map((source): AllowLine => [
        "*",
        `${source} | ${reader}`,
      ]),
    ),
    ...EXPANSIONS.flatMap((line) =>
      HARMLESS.map((harmless): AllowLine => {
        const text = written(line.replaceAll("&", () => harmless).replaceAll("%", () => EVIL));
        return [`${firstTwo(harmless)}*`, text];
      }),
    ),
    ...lines(String.raw`
./evil
./evil x
@/evil
bin/cat a
./bin/cat a
x/../evil
\./evil
"./evil"
git push upstream HEAD:refs/heads/x
git push -q upstream main
git fetch upstream
git pull upstream main
git remote show upstream
git push remote HEAD:refs/heads/x
./git status
./ls
x.sh
./x.sh
`).map((line): AllowLine => ["*", line]),
  ];
  return pairs.flatMap(([pattern, line]): AllowLine[] => [
    [pattern, line],
    ["*", line],
  ]);
}

const PUSH = "git push -q origin HEAD:refs/heads/p";
const REFS = "-q origin HEAD:refs/heads/p";

/** Options before the subcommand. */
const BEFORE = lines(`
-C .
-C . -C .
-C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C . -C .
-C ../work
-c a.b=c
-ca.b=c
-c a.b=c -c d.e=f
--git-dir=.git
--git-dir .git
--work-tree=.
--work-tree . --git-dir .git
--no-pager
-P
-p
--paginate
--literal-pathspecs
--no-optional-locks
--no-replace-objects
--namespace=
--exec-path=/usr/lib/git-core
--config-env=a.b=HOME
--no-advice
-C . --no-pager -c a.b=c
--bare --git-dir=.git
`);

/** Spellings of the words `git push`. */
const SPELLINGS = lines(String.raw`
git push
git  push
git	push
'git' push
git 'push'
git "push"
git "pu"sh
git pu''sh
git pu\sh
\git push
g\it push
g""it push
"g"it push
/usr/bin/git push
/usr/bin/../bin/git push
/bin/git push
//usr/bin/git push
git $'push'
git $'\x70ush'
git $"push"
git $(echo push)
git "$(echo push)"
git ${"`"}echo push${"`"}
$(echo git) push
$(which git) push
git $(printf p)ush
git p$(:)ush
git pu$@sh
git pu\${X}sh
git \${X:-push}
git \${X-push}
git "\${X:-push}"
X=push; git $X
X=push; git "$X"
X=push; git -C . $X
X=git; $X push
X='git push'; $X
X=pus; git \${X}h
X=xpush; git \${X#x}
set -- push; git $1
set -- git push; "$@"
eval git push
eval "git push"
eval 'git pu''sh'
A=git B=push; $A $B
git {push,}
git pus[h]
git pu?h
git p*h
command git push
command -p git push
exec git push
builtin command git push
time git push
coproc git push
git-push
/usr/lib/git-core/git push
/usr/lib/git-core/git-push
$(git --exec-path)/git-push
GIT push
git.exe push
git send-pack
2>/dev/null git push
</dev/null git push
A=b git push
GIT_TRACE=0 git push
! git push
git push --
git -c alias.p=push p
git -calias.p=push p
git -c alias.p='!git push' p
git --config-env=alias.p=P p
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push; git p
GIT_CONFIG_PARAMETERS="'alias.p=push'" git p
GIT_CONFIG_GLOBAL=./aliases git p
HOME=./home git p
XDG_CONFIG_HOME=./home git p
git -c include.path=../aliases p
git config alias.p push; git p
git config alias.p push && git -C . p
git config --local alias.p '!git push'; git p
git config include.path ../aliases; git p
alias g='git push'@NLg
git subtree push
git lfs push
`);

/** Copies and links of the program, files that run it, and settings that do. `%` stands for the arguments. */
const COPIES = lines(String.raw`
cp /usr/bin/git x; ./x push %
cp /usr/bin/git ./cat; PATH=.:$PATH cat push %
cp $(which git) x && ./x push %
cp -a /usr/bin/git x; ./x push %
ln -s /usr/bin/git x; ./x push %
ln -s /usr/bin/git ./ls; ./ls push %
ln -s /usr/bin x; x/git push %
ln -s /usr x; x/bin/git push %
ln /usr/bin/git x; ./x push %
install /usr/bin/git x; ./x push %
cat /usr/bin/git > x; chmod +x x; ./x push %
dd if=/usr/bin/git of=x; chmod +x x; ./x push %
tee x < /usr/bin/git > /dev/null; chmod +x x; ./x push %
rsync /usr/bin/git x; ./x push %
hash -p /usr/bin/git ls; ls push %
bash -c 'hash -p /usr/bin/git ls; ls push %'
cp push.sh x; sh x
mv push.sh x; ./x
cp push.sh .git/hooks/pre-commit; git commit --allow-empty -m x
ln -s ../../push.sh .git/hooks/pre-commit; git commit --allow-empty -m x
install push.sh .git/hooks/post-commit; git commit --allow-empty -m x
git config core.hooksPath hooks; git commit --allow-empty -m x
git -c core.hooksPath=hooks commit --allow-empty -m x
./push.sh
sh push.sh
bash ./push.sh
. ./push.sh
source push.sh
bash push.sh x
@/push.sh
sh < push.sh
cat push.sh | sh
xargs -a push.sh sh -c
python3 push.py
python3 < push.py
node push.js
node ./push.js
perl push.pl
make push
make -s push
make -f Makefile push
make -C . push
make push test
npm run push
npm run -s push
npm run-script push
npm run test:push
npm explore . -- ./push.sh
npm exec -c ./push.sh
npx -c ./push.sh
yarn push
pnpm push
pnpm run push
bun run push
just push
rake push
cargo run push
go run push.go
echo './push.sh' | sh
echo push | xargs git
echo push % | xargs git
echo git push % | sh
echo git push % | bash
echo "git push %" > x; sh x
printf 'git push %\n' | sh
printf 'git push %\n' > x; . ./x
printf '#!/bin/sh\ngit push %' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit --allow-empty -m x
echo 'git push %' | tee x; sh x
git show HEAD:push.sh | sh
tail -n 2 push.sh | sh
sh <<< 'git push %'
sh <<E@NLgit push %@NLE
bash <(echo git push %)
. <(echo git push %)
sh -c "$(cat push.sh)"
eval "$(cat push.sh)"
eval "$(tail -1 push.sh)"
X=$(tail -1 push.sh); $X
read X < one-line; $X
mapfile -t X < one-line; \${X[0]}
f() { git push %; }; f
git() { command git push %; }; git status
g() { "$@" push %; }; g git
trap 'git push %' EXIT
BASH_ENV=./push.sh bash -c :
ENV=./push.sh sh -i -c :
for x in push; do git $x %; done
IFS=,; X=git,push; $X %
{ git push %; }
(git push %)
cd ../origin.git && git fetch -q ../work HEAD:refs/heads/p
git -C ../origin.git fetch -q ../work HEAD:refs/heads/p
git --git-dir=../origin.git fetch -q . HEAD:refs/heads/p
git --git-dir=../origin.git update-ref refs/heads/p HEAD
cp .git/refs/heads/main ../origin.git/refs/heads/p
cp .git/refs/heads/main @/../origin.git/refs/heads/p
git rev-parse HEAD > ../origin.git/refs/heads/p
git worktree add ../w; cd ../w; git push %
git fetch -q ../work +HEAD:refs/heads/p
git -c protocol.ext.allow=always fetch ext::'git push %'
git -c core.fsmonitor='git push %;:' status
git -c core.pager='git push %' -p log -1
git -c core.editor='git push %;:' commit --allow-empty
git -c diff.external='git push %;:' diff HEAD~1
git -c gpg.program='./push.sh' commit -S --allow-empty -m x
GIT_EDITOR='git push %;:' git commit --allow-empty
GIT_PAGER='git push %' git -p log -1
GIT_EXTERNAL_DIFF=./push.sh git diff HEAD~1
GIT_SSH_COMMAND='git push %;:' git fetch ssh://x/y
PAGER=./push.sh git -p log -1
GIT_EXEC_PATH=. git status
touch a; make push
mkdir d && cp push.sh d && sh d/push.sh
git stash; git push %
git log --oneline | head -1; git push %
`);

/** Lines around a command. */
const CARRIERS = lines(`
true; %
true && %
false || %
true & %
% | cat
% 2>&1
(%)
{ %; }
if %; then true; fi
while ! %; do break; done
for i in 1; do %; done
case x in x) %;; esac
echo $(%)
echo "$(%)"
X=$(%)
cat <(%)
! %
sh -c '%'
env -S'%'
timeout 5 %
xargs -a /dev/null %
git status; %
npm test; %
cat a | %
echo a@NL%
`);

/** Lines that push, each in a way that a rule for `git push*` must catch. */
export function denyLines(): string[] {
  const nested = [1, 2, 3, 4, 6, 8].map((depth) => {
    let line = PUSH;
    for (let at = 0; at < depth; at += 1) line = `sh -c ${JSON.stringify(line)}`;
    return line;
  });
  const carried = (command: string): string[] => CARRIERS.map((line) => line.replaceAll("%", () => command));
  return [
    ...SPELLINGS.map((words) => `${words} ${REFS}`),
    ...BEFORE.map((options) => `git ${options} push ${REFS}`),
    ...BEFORE.map((options) => `git ${options} -c alias.p=push p ${REFS}`),
    ...RUNNERS.map((runner) => `${runner} ${PUSH}`),
    ...SHELLS.map((shell) => `${shell} '${PUSH}'`),
    ...INTERPRETERS.map((line) => line.replaceAll("%", () => PUSH)),
    ...READERS.flatMap((reader) => [`echo '${PUSH}' | ${reader}`, `cat push.sh | ${reader}`]),
    ...COPIES.map((line) => line.replaceAll("%", () => REFS)),
    ...nested,
    ...[PUSH, `git -C . push ${REFS}`, `X=push; git $X ${REFS}`].flatMap(carried),
  ].map(written);
}
