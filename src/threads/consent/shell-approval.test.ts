import { describe, expect, it } from "vitest";
import { isObeyedFile } from "./shell-approval.ts";

describe("what other programs run for the user", () => {
  it.each([
    "/.git/config",
    "/deep/repo/.git/hooks/pre-commit",
    "/.GIT/config",
    "/.g\u200cit/config",
    "/.git./config",
    "/.git /config",
    "/GIT~1/config",
    "a/../.git/config",
    "\\.git\\config",
    "/.envrc",
    "/sub/.Envrc",
    "/.vscode/tasks.json",
    "/.npmrc",
    "/packages/a/.npmrc",
    "/.mcp.json",
    "/.holdfast/config.json",
    "/.husky/pre-commit",
    "/.bashrc",
    "/.config/holdfast/config.json",
    "/u/.local/state/Holdfast/trust.json",
  ])("%j is among it", (path) => {
    expect(isObeyedFile(path)).toBe(true);
  });

  it.each([
    "/src/index.ts",
    "/.gitignore",
    "/.github/readme.md",
    "/git/config",
    "/envrc",
    "/.env",
    "",
    "/",
    "..",
    "a/.../b",
  ])("%j is not", (path) => {
    expect(isObeyedFile(path)).toBe(false);
  });
});
