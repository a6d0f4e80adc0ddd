import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FROZEN_FILES } from "../index.ts";
import { FROZEN_NAMES } from "../shell/isolation/read-only-paths.ts";
import { HELD, isObeyedFile, namesObeyedFile, OBEYED } from "./obeyed.ts";

it("has a reason for each entry, and none twice", () => {
  expect(OBEYED.filter(({ reason }) => reason.length < 10)).toEqual([]);
  const names = OBEYED.map(({ name }) => name.toLowerCase());
  expect(names).toEqual([...new Set(names)]);
});

it("is the list of commands and of file tools", () => {
  for (const { name, held } of OBEYED)
    expect(FROZEN_NAMES).toEqual(expect.arrayContaining([...(held ?? [name.replace(/\/$/, "")])]));
  expect(HELD).toEqual(expect.arrayContaining([".git/config", ".git/hooks", ".envrc", ".mcp.json"]));
  expect(FROZEN_FILES.paths).toEqual([
    "**/.git",
    "**/.mcp.json",
    "**/.holdfast",
    "**/.agents/skills",
    "**/.agents/agents",
    "**/.claude/skills",
    "**/.claude/agents",
  ]);
});

/** Lists of something else: a home folder as commands see it, what was left there, what surveys pass over, project files. */
const OTHERS = [
  "files/shell/isolation/home.ts",
  "files/shell/isolation/read-only-paths.ts",
  "models/offline/survey/listing.ts",
  "project/places.ts",
];

it("is the only list: no other file of the source names three of its entries", () => {
  const src = join(import.meta.dirname, "../..");
  const names = OBEYED.map(({ name }) => name.replace(/\/$/, "")).concat(HELD);
  const isList = (file: string): boolean => {
    const text = readFileSync(join(src, file), "utf8");
    return names.filter((name) => text.includes(`"${name}"`) || text.includes(`"${name}/"`)).length > 2;
  };
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !OTHERS.includes(file) && isList(file),
  );
  expect(files).toEqual(["files/paths/obeyed.ts"]);
});

/** Files of agents, editors, shells, git, package managers and servers, as their documentation names them. */
const KNOWN = `
AGENT.md AGENTS.md AGENTS.local.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md CRUSH.local.md
CODEX.md WARP.md IFLOW.md CODEBUDDY.md COPILOT.md JULES.md OPENCODE.md AMP.md GOOSE.md KIMI.md GROK.md replit.md
packages/a/agents.md docs/AGENT.md CONVENTIONS.md mcp_config.json a/mcp-config.json gemini-extension.json
rust-toolchain rust-toolchain.toml default.nix nix/default.nix pixi.toml sitecustomize.py src/sitecustomize.py copilot-instructions.md opencode.json opencode.jsonc crush.json mcp.json .mcp.json
.cursorrules .cursor/rules/a.mdc .cursor/mcp.json .cursor/hooks.json .cursor/commands/a.md .cursor/environment.json
.windsurfrules .windsurf/rules/a.md .windsurf/workflows/a.md .clinerules .clinerules/a.md .clinerules/workflows/a.md
.kilocode/rules/a.md .kilocode/mcp.json .kilocode/workflows/a.md .kilo/rules/a.md .kilocodemodes .roo/rules/a.md
.roo/mcp.json .roo/commands/a.md .roomodes .roorules .rooignore .augment/rules/a.md .augment-guidelines .augmentignore
.trae/rules/project_rules.md .trae/mcp.json .zencoder/rules/a.md .openhands/microagents/repo.md .openhands/setup.sh
.openhands/pre-commit.sh .openhands_instructions .goosehints .goose/config.yaml .factory/droids/a.md .factory/mcp.json
.factory/hooks.json .warp/rules.md .rovodev/config.yml .iflow/settings.json .codebuddy/rules/a.md .qoder/rules/a.md
.vibe/config.toml .amp/settings.json .copilot/mcp-config.json .firebender/rules/a.md firebender/../.firebender/mcp.json
.tabnine/guidelines/a.md .sourcegraph/memory.md .github/copilot-instructions.md .github/instructions/a.instructions.md
.github/prompts/a.prompt.md .github/chatmodes/a.chatmode.md .github/agents/a.md .github/skills/a/SKILL.md
.github/hooks/a.json .github/workflows/ci.yml .github/actions/a/action.yml .github/dependabot.yml .github/CODEOWNERS
.github/copilot/mcp.json .github/copilot-setup-steps.yml .github/readme.md .amazonq/rules/a.md .amazonq/mcp.json
.amazonq/cli-agents/a.json .continue/config.yaml .continue/rules/a.md .continuerules .continuerc.json .kiro/steering/a.md
.kiro/settings/mcp.json .kiro/hooks/a.kiro.hook .junie/guidelines.md .junie/mcp/mcp.json .aider.conf.yml .aiderignore
.aider.model.settings.yml .gemini/settings.json .gemini/commands/a.toml .gemini/extensions/a.json .geminiignore
.codex/config.toml .codex/prompts/a.md .opencode/agent/a.md .opencode/plugin/a.ts .opencode/command/a.md .qwen/settings.json
.crush/commands/a.md .crush.json .claude/settings.json .claude/settings.local.json .claude/hooks/a.sh .claude/commands/a.md
.agents/rules.md .agent/rules/a.md .ai/rules.md .airules .rules .prompts/a.md .llm/config.json .mentat/config.json
.plandex/x .sweep.yaml .tongyi/x .void/x .pearai/x .aide/x .melty/x .devin/wiki.json .jules/setup.sh .bolt/prompt
.lovable/x .v0/x .same/x .codeium/instructions.md .cody/commands.json .vscode/cody.json .rulesync/rules/a.md .ruler/a.md
.specify/x .bmad-core/x .taskmaster/config.json .superdesign/x .serena/project.yml .zed/settings.json .zed/tasks.json
.zed/debug.json .fleet/run.json .fleet/settings.json .idea/workspace.xml .idea/runConfigurations/a.xml
.idea/externalDependencies.xml .idea/watcherTasks.xml .run/app.run.xml .run/a.xml app.iml app.ipr .project .classpath
.settings/org.eclipse.core.prefs .externalToolBuilders/a.launch .vs/tasks.vs.json .vs/launch.vs.json .nova/Tasks/a.json
.vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions.json .vscode/mcp.json .VSCODE/Tasks.json
.vscode/.tasks.json .vscode-insiders/tasks.json .vscode-test.mjs .vscode/a.code-snippets x.code-workspace
app.sublime-project .sublime/x .theia/tasks.json .devcontainer.json .devcontainer/devcontainer.json devcontainer.json
.devcontainer/a/devcontainer.json .gitpod.yml .gitpod.Dockerfile .replit replit.nix .stackblitzrc .codesandbox/tasks.json
.ona/x .coder/x .vimrc .nvimrc .exrc .nvim.lua .lvimrc .local.vimrc .vim/plugin/a.vim .netrc .emacs .emacs.d/init.el
.dir-locals.el .dir-locals-2.el .editorconfig .projectile .kakrc .helix/config.toml .helix/languages.toml
.git/config .git/hooks/pre-commit deep/repo/.git/config .gitconfig .gitmodules .gitattributes sub/.gitattributes
.git-blame-ignore-revs .githooks/pre-commit .husky/pre-commit .huskyrc .huskyrc.json lefthook.yml lefthook.yaml lefthook.toml
lefthook.json lefthook-local.yml .lefthook.yml .lefthook/pre-commit/a.sh .pre-commit-config.yaml .pre-commit-hooks.yaml
.overcommit.yml .lintstagedrc .lintstagedrc.js .lintstagedrc.json lint-staged.config.js lint-staged.config.mjs
simple-git-hooks.json simple-git-hooks.js .simple-git-hooks.json commitlint.config.js commitlint.config.ts .commitlintrc.js
.czrc .cz.toml .envrc .envrc.local sub/.Envrc .direnvrc .env .env.local .env.production .mise.toml mise.toml mise.local.toml
.mise/config.toml .mise.local.toml .config/mise.toml .tool-versions .rtx.toml .asdfrc .nvmrc .node-version .python-version
.ruby-version .java-version .sdkmanrc .autoenv.zsh .env.zsh flake.nix shell.nix devenv.nix devenv.yaml devbox.json .profile
.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc
.inputrc .screenrc .tmux.conf .config/fish/config.fish .npmrc packages/a/.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs
.yarn/releases/yarn.cjs .yarn/plugins/a.cjs bunfig.toml .cargo/config.toml .cargo/config .pypirc pip.conf .condarc .gemrc
.bundle/config .pryrc .irbrc .rspec .rubocop.yml .mvn/jvm.config .mvn/extensions.xml .mvn/wrapper/maven-wrapper.properties
.gradle/init.gradle .sbtopts .jvmopts .bazelrc .bazelversion .buckconfig .eslintrc .eslintrc.js .eslintrc.cjs .prettierrc
.prettierrc.js .stylelintrc.js .babelrc .babelrc.js .swcrc .mocharc.js .mocharc.yml .nycrc .taprc .c8rc.json .postcssrc.js
.browserslistrc .storybook/main.ts .clangd .clang-tidy .ccls .luarc.json .pylintrc .flake8 .mypy.ini .coveragerc
.pythonstartup .ipython/profile_default/startup/a.py .jupyter/jupyter_notebook_config.py .Rprofile .Renviron .octaverc
.gdbinit .lldbinit .perldb .terraformrc .terraform.d/x .docker/config.json .kube/config .aws/config .ssh/config
.ssh/authorized_keys .gnupg/gpg.conf .wgetrc .curlrc .ackrc .ripgreprc .psqlrc .my.cnf .sqliterc .forward .procmailrc
.xinitrc .xprofile .xsession .config/autostart/a.desktop .config/systemd/user/a.service .local/bin/a .gitlab-ci.yml
.gitlab/ci.yml .circleci/config.yml .buildkite/pipeline.yml .woodpecker.yml .woodpecker/a.yml .drone.yml .travis.yml
.cirrus.yml .semaphore/semaphore.yml .teamcity/settings.kts .forgejo/workflows/a.yml .gitea/workflows/a.yml .builds/a.yml
azure-pipelines.yml azure-pipelines.yaml Jenkinsfile ci/Jenkinsfile bitbucket-pipelines.yml appveyor.yml .appveyor.yml
wercker.yml codefresh.yml buildspec.yml cloudbuild.yaml netlify.toml vercel.json render.yaml .vercel/project.json .platform/x
.ebextensions/a.config .do/app.yaml .changeset/config.json .releaserc.js .goreleaser.yml .holdfast/config.json
.config/holdfast/config.json u/.local/state/Holdfast/trust.json`
  .trim()
  .split(/\s+/);

describe("a file that other programs run or obey", () => {
  it("has at least 257 known names to be tested with", () => {
    expect(new Set(KNOWN).size).toBeGreaterThanOrEqual(257);
  });

  it.each(KNOWN)("is %j", (path) => expect(isObeyedFile(`/${path}`)).toBe(true));

  it.each([
    "/.GIT/config",
    "/.g\u200Cit/config",
    "/.git./config",
    "/.git /config",
    "/GIT~1/config",
    "a/../.git/config",
    "\\.git\\config",
    "/.\uFF47it/config",
    "/\uFF0Egit/config",
    "/.git\uFF0Fconfig",
    "/.\uFF2D\uFF23\uFF30.json",
    "/AGENTS.md.",
    "/agents.md ",
    "/\u200BAGENTS.md",
    "/\uFF21GENTS.md",
    "/Claude\u00AD.md",
    "/jenkinsfile",
    "/x.CODE-WORKSPACE ",
  ])("is %j, in any spelling", (path) => expect(isObeyedFile(path)).toBe(true));

  it.each([
    "/src/index.ts",
    "/src/components/Button.test.tsx",
    "/package.json",
    "/tsconfig.json",
    "/Makefile",
    "/README.md",
    "/CHANGELOG.md",
    "/Dockerfile",
    "/pyproject.toml",
    "/vite.config.ts",
    "/public/index.html",
    "/scripts/build.sh",
    "/.gitignore",
    "/src/.gitkeep",
    "/.dockerignore",
    "/.env.example",
    "/git/config",
    "/docs/agents/a.md",
    "/my-AGENTS.md",
    "/docs/agent.mdx",
    "/envrc",
    "/a.b/c.d",
    "",
    "/",
    "..",
    "a/.../b",
  ])("is not %j", (path) => expect(isObeyedFile(path)).toBe(false));

  it.each([
    [".kilocode/mcp.json", true],
    ["/home/ann/app/.envrc", true],
    ["file:///home/ann/.kilocode/mcp.json", true],
    [".vscode/tasks.json", true],
    ["AGENTS.md", true],
    [".btn-primary", false],
    ["https://example.com/.well-known/x", false],
    ["see ./a and .b/c", false],
  ])("is named by the text %j: %s", (text, expected) => expect(namesObeyedFile(text)).toBe(expected));
});
