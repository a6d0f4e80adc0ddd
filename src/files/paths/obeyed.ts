import { posix } from "node:path";
import { foldName } from "./fold.ts";

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

/**
 * The list for all entry points: file tools, commands, editors and servers. File tools also ask for every other name that
 * begins with a dot (`isObeyedFile`); commands need the names.
 */
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
    "lefthook.yml lefthook.yaml lefthook.toml lefthook.json lefthook-local.yml .lefthook.yml .lefthook/ .pre-commit-config.yaml .lintstagedrc .lintstagedrc.js .lintstagedrc.cjs .lintstagedrc.mjs .lintstagedrc.json .lintstagedrc.yml lint-staged.config.js lint-staged.config.mjs lint-staged.config.cjs lint-staged.config.ts simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs .simple-git-hooks.json commitlint.config.js commitlint.config.cjs commitlint.config.mjs commitlint.config.ts",
    "hooks run the commands in them at the next commit",
  ),
  ...held(".vscode/ .idea/", "editors run tasks and programs that they name"),
  ...each(
    ".zed/ .fleet/ .run/ .vs/ .nova/ .settings/ .project .classpath .devcontainer/ .devcontainer.json devcontainer.json .vimrc .exrc .nvim.lua .nvimrc .emacs .dir-locals.el .gitpod.yml .replit replit.nix",
    "editors run tasks and code in them",
  ),
  ...held(".envrc", "direnv runs it in every shell"),
  ...each(
    ".direnvrc .mise.toml mise.toml mise.local.toml .mise/ .tool-versions .envrc.local flake.nix default.nix shell.nix pixi.toml rust-toolchain rust-toolchain.toml devenv.nix devenv.yaml devbox.json bunfig.toml",
    "shells run programs that they choose",
  ),
  ...each("sitecustomize.py", "Python runs it when it starts"),
  ...each(
    ".profile .bashrc .bash_profile .bash_login .bash_logout .zshrc .zshenv .zprofile .zlogin",
    "a shell runs it when it starts",
  ),
  ...each(
    ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .yarn/releases/ .yarn/plugins/ .cargo/config.toml .cargo/config .pypirc pip.conf",
    "package managers run programs that it names",
  ),
  ...each(
    ".github/workflows/ .github/actions/ .gitlab-ci.yml .gitlab/ .circleci/ .buildkite/ .woodpecker/ .woodpecker.yml .drone.yml .travis.yml .cirrus.yml .semaphore/ .teamcity/ .forgejo/workflows/ .gitea/workflows/ azure-pipelines.yml azure-pipelines.yaml Jenkinsfile bitbucket-pipelines.yml appveyor.yml wercker.yml codefresh.yml buildspec.yml cloudbuild.yaml cloudbuild.yml netlify.toml vercel.json render.yaml",
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
    ".cursor/ .gemini/ .codex/ .opencode/ .windsurf/ .roo/ .clinerules/ .aider.conf.yml .amazonq/ .continue/ .kiro/ .junie/ .kilocode/ .kilo/ .kilocodemodes .roomodes .qwen/ .crush/ .crush.json crush.json .augment/ .trae/ .goose/ .openhands/ .factory/ .warp/ .rovodev/ .iflow/ .codebuddy/ .qoder/ .zencoder/ .vibe/ .amp/ .copilot/ .firebender/ .tabnine/ .sourcegraph/ opencode.json opencode.jsonc mcp.json mcp_config.json mcp-config.json gemini-extension.json .github/agents/ .github/hooks/ .github/extensions/",
    "agents obey it, and start programs that it names",
  ),
  ...each(
    "AGENTS.md AGENTS.override.md AGENTS.local.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md CRUSH.local.md CODEX.md WARP.md IFLOW.md CODEBUDDY.md COPILOT.md JULES.md OPENCODE.md AMP.md GOOSE.md KIMI.md GROK.md replit.md CONVENTIONS.md copilot-instructions.md .cursorrules .windsurfrules .goosehints .rules .github/copilot-instructions.md .github/instructions/ .github/prompts/ .github/chatmodes/ .github/skills/",
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

/** Names with a dot that no program runs or obeys beyond leaving files out. Writing them is ordinary work. */
const ORDINARY = new Set(
  ".gitignore .gitkeep .keep .dockerignore .npmignore .prettierignore .eslintignore .stylelintignore .nojekyll .env.example .env.sample .env.template".split(
    " ",
  ),
);
/** Endings of project files with which editors run programs. */
const PROJECT_ENDINGS = [".code-workspace", ".sublime-project", ".iml", ".ipr"];

const [FOLDERS, FILES] = [true, false].map((isFolder) =>
  OBEYED.filter(({ name }) => name.endsWith("/") === isFolder).map(({ name }) => `/${name.toLowerCase()}`),
) as [string[], string[]];

/**
 * Whether writing a file may mean running code or giving instructions, in any spelling of its path: it is on the list, or
 * it is a file with a dot, or in a folder with one. New tools bring new names, and nearly all of them begin with a dot.
 */
export function isObeyedFile(path: string): boolean {
  const segments = foldedSegments(path);
  return segments.some(isDotName) || isListed(segments);
}

/** Whether a text that may be a path names such a file. A name with a dot counts only where a folder stands with it. */
export function namesObeyedFile(text: string): boolean {
  const segments = foldedSegments(text);
  if (isListed(segments)) return true;
  const isPath = !/\s/.test(text) && (!text.includes("://") || text.startsWith("file:"));
  return isPath && segments.length > 1 && segments.some(isDotName);
}

function foldedSegments(path: string): string[] {
  const folded = posix.normalize(path.replaceAll("\\", "/")).split("/").map(foldName).join("/");
  // Folding may bring in a slash.
  return folded.split("/");
}

function isListed(segments: readonly string[]): boolean {
  const whole = `/${segments.join("/")}`;
  return (
    FOLDERS.some((folder) => `${whole}/`.includes(folder)) ||
    [...FILES, ...PROJECT_ENDINGS].some((file) => whole.endsWith(file))
  );
}

function isDotName(name: string): boolean {
  return name.startsWith(".") && !/^\.+$/.test(name) && !ORDINARY.has(name);
}
