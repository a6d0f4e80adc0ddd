/** A file or folder, in any folder, that programs execute or obey: to write it is to run code or give instructions. */
interface Obeyed {
  /** A path of one or more names; a folder ends with a slash. */
  name: string;
  reason: string;
  /** Paths in it that a command can neither create nor change. Without it, a command cannot change existing ones. */
  held?: readonly string[];
  /** Paths that file tools never write, even with consent. */
  frozen?: readonly string[];
}

const each = (names: string, reason: string): Obeyed[] => names.split(" ").map((name) => ({ name, reason }));
const held = (names: string, reason: string): Obeyed[] =>
  each(names, reason).map((one) => ({ ...one, held: [one.name.replace(/\/$/, "")] }));

/** The list for all entry points: file tools, commands, editors and servers. */
export const OBEYED: readonly Obeyed[] = [
  {
    name: ".git/",
    reason: "git runs its hooks, and programs that its settings name",
    held: [".git/config", ".git/hooks"],
    frozen: [".git"],
  },
  ...held(".githooks/ .husky/", "git runs them where its settings say so"),
  ...each(".gitconfig .gitmodules .gitattributes", "git takes settings and filters from them"),
  ...each(
    "lefthook.yml lefthook.yaml .lefthook.yml .pre-commit-config.yaml .lintstagedrc .lintstagedrc.js .lintstagedrc.cjs .lintstagedrc.mjs .lintstagedrc.json .lintstagedrc.yml lint-staged.config.js",
    "hooks run the commands in them at the next commit",
  ),
  ...held(".vscode/ .idea/", "editors run tasks and programs that they name"),
  ...each(
    ".zed/ .fleet/ .devcontainer/ .devcontainer.json .vimrc .exrc .nvim.lua .emacs .dir-locals.el",
    "editors run tasks and code in them",
  ),
  ...held(".envrc", "direnv runs it in every shell"),
  ...each(
    ".direnvrc .mise.toml mise.toml .mise/ .tool-versions .envrc.local",
    "shells run programs that they choose",
  ),
  ...each(
    ".profile .bashrc .bash_profile .bash_login .bash_logout .zshrc .zshenv .zprofile .zlogin",
    "a shell runs it when it starts",
  ),
  ...each(
    ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .yarn/releases/ .yarn/plugins/ .cargo/config.toml .cargo/config .pypirc pip.conf",
    "package managers run programs that it names",
  ),
  ...each(
    ".github/workflows/ .github/actions/ .gitlab-ci.yml .circleci/ .buildkite/ azure-pipelines.yml Jenkinsfile",
    "a server runs it with the project's secrets",
  ),
  {
    name: ".mcp.json",
    reason: "agents start the programs in it",
    held: [".mcp.json"],
    frozen: [".mcp.json"],
  },
  {
    name: ".holdfast/",
    reason: "it has settings and skills of ours",
    held: [".holdfast"],
    frozen: [".holdfast"],
  },
  {
    name: ".agents/",
    reason: "agents obey it",
    held: [".agents"],
    frozen: [".agents/skills", ".agents/agents"],
  },
  {
    name: ".claude/",
    reason: "agents obey it, and run its hooks",
    held: [".claude"],
    frozen: [".claude/skills", ".claude/agents"],
  },
  ...each(
    ".cursor/ .gemini/ .codex/ .opencode/ .windsurf/ .roo/ .clinerules/ .aider.conf.yml .amazonq/ .continue/ .kiro/ .junie/",
    "agents obey it, and start programs that it names",
  ),
  ...each(
    "AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md .cursorrules .windsurfrules .goosehints .github/copilot-instructions.md .github/instructions/",
    "agents take it for the user's words",
  ),
  ...each(".ssh/", "it has keys, and programs that ssh runs"),
  ...[".config/holdfast/", ".local/state/holdfast/", "Application Support/holdfast/"].map((name) => ({
    name,
    reason: "it has what the user has agreed to",
  })),
];

/** Paths from the root that a command can neither create nor change. */
export const HELD: readonly string[] = OBEYED.flatMap((one) => one.held ?? []);

/** Paths from the root that a command can create, but not change where they exist. */
export const HELD_IF_THERE: readonly string[] = OBEYED.filter((one) => !one.held).map(({ name }) =>
  name.replace(/\/$/, ""),
);
