import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../errors.ts";
import { foreign } from "../../plan/render/index.ts";
import { branchOf, repositoryOf } from "../git/index.ts";

interface CommandPlace {
  isolated: boolean;
  network: boolean;
  timeoutMs: number;
  maxTimeoutMs: number;
}

/**
 * A description for the model: what `/` is, the bounds and time limits of commands, the system, the day, the repository
 * and its test command. Stable for a day, for the prompt cache: it has no hour, and the branch is read once per process.
 */
export function placeText(
  dir: string,
  { isolated, network, timeoutMs, maxTimeoutMs }: CommandPlace,
  now = new Date(),
): string {
  const bounds = isolated ? `, and write only there and to /tmp${network ? "" : ", without network"}` : "";
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const limits = `Limit ${seconds(timeoutMs)} s, with timeout ${seconds(maxTimeoutMs)}.`;
  const shell = process.platform === "win32" ? " Commands are Windows PowerShell 5.1, without &&." : "";
  const facts = [`${process.platform}, ${day}.${shell}`, gitText(dir), testText(dir)].filter(
    (part) => part !== "",
  );
  return `/ is ${foreign(dir)} for the file tools. Commands start there${bounds}. ${limits} ${facts.join(" ")}`;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

const branches = new Map<string, string>();

/** The branch when this process first looked. */
function gitText(dir: string): string {
  const text = branches.get(dir) ?? readBranch(dir);
  branches.set(dir, text);
  return text;
}

function readBranch(dir: string): string {
  const repository = repositoryOf(dir);
  if (!repository) return "";
  const branch = branchOf(repository);
  // The name is foreign text in a prompt.
  return branch !== undefined && /^[\w./-]{1,40}$/.test(branch) ? `git, at the start on ${branch}.` : "git.";
}

const LOCKS: readonly [file: string, manager: string][] = [
  ["package-lock.json", "npm"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
];

const OTHERS: readonly [file: string, command: string][] = [
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
];

/** The project's test command, where its files show one. */
function testText(dir: string): string {
  const exists = ([file]: readonly [string, string]): boolean => existsSync(join(dir, file));
  const manager = LOCKS.find(exists)?.[1] ?? "npm";
  const command = hasTestScript(dir) ? `${manager} test` : OTHERS.find(exists)?.[1];
  return command === undefined ? "" : `Tests: ${command}.`;
}

function hasTestScript(dir: string): boolean {
  const manifest = attempt((): unknown => JSON.parse(readFileSync(join(dir, "package.json"), "utf8")));
  return typeof (manifest as { scripts?: { test?: unknown } } | null | undefined)?.scripts?.test === "string";
}
