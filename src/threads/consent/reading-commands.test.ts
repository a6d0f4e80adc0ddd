import { expect, it } from "vitest";
import { isReadingCommand } from "./reading-commands.ts";

it.each([
  "git log",
  "git log --oneline -20",
  "git log --since=2024-01-01 --stat -- src/a.ts",
  "git status --short",
  "git diff HEAD~2..HEAD --name-only",
  "git show HEAD:src/a.ts | head -20",
  "git branch -a",
  "git log --oneline | grep -i fix | wc -l",
  "git status && git log -3",
  "ls",
  "ls -la src/",
  "pwd; ls",
  "node --version",
])("%j only reads", (command) => {
  expect(isReadingCommand(command)).toBe(true);
});

it.each([
  "",
  "rm -rf data",
  "git push",
  "git branch new",
  "git branch -D old",
  "git log --output=a",
  "git log --outp=a",
  "git diff --no-index /dev/null /etc/passwd",
  "git diff --ext-diff",
  "git -c core.pager=x log",
  "git log > a",
  "git log & rm a",
  "git log\nrm a",
  "git log $(rm a)",
  "git log `rm a`",
  "git status && rm a",
  "git log | sh",
  "git log | sort -o a",
  "git log | sort -oa",
  "git log | uniq - a",
  "git log | grep -f .env",
  "git log | grep x .env",
  "git log | head .env",
  "cat .env",
  "ls /etc",
  "ls ~/.ssh",
  "ls ../other",
  "ls '/etc'",
  'ls "../a"',
  "PAGER=x git log",
  "find . -delete",
  "npm test",
  "node --version a",
])("%j may do more", (command) => {
  expect(isReadingCommand(command)).toBe(false);
});
