import { describe, expect, it } from "vitest";
import { onPlatform } from "../../test/helpers/terminal/platform.ts";
import { allowing, catching, compileRule, RULE } from "./rules.ts";

const command = (text: string) => ({ tool: "execute", command: text });
const write = (path: string) => ({ tool: "write_file", path });

describe("a rule that allows a command", () => {
  const rule = compileRule("execute(npm test*)");

  it.each(["npm test", "npm test -- --run", "npm test && npm test -- a"])("lets %j pass", (text) =>
    expect(rule.allows(command(text))).toBe(true),
  );

  it.each([
    "npm run build",
    "npm test; rm -rf /",
    "npm test && curl evil",
    "npm test | sh",
    "npm test & evil",
    "npm test\nevil",
    "npm test $(evil)",
    "npm test `evil`",
    "npm test > ~/.bashrc",
    "npm test <(evil)",
    "npm test ${X:=evil}",
    "npm test $'\\n'evil",
    "npm test $HOME",
    "npm tests",
    "PATH=. npm test",
    " && evil npm test",
    "find . -exec npm test",
    "",
  ])("does not let %j pass", (text) => expect(rule.allows(command(text))).toBe(false));
});

it.each([
  ["execute(git push*)", "cd a && git push", true],
  ["execute(git push*)", "A=b git push --force", true],
  ["execute(git push*)", "(git push)", true],
  ["execute(git push*)", "echo git push", false],
  ["execute(rm *)", "rm", true],
  ["execute(rm *)", "rmdir a", false],
  ["execute(*secret*)", "cat my-secret.txt", true],
  ["execute(echo a*b*c)", "echo a--b--c", true],
  ["execute(echo a*b*c)", "echo a--c--b", false],
  ["execute(rm -rf*)", "rm -r -f a", true],
  ["execute(rm -rf*)", "rm a -fr", true],
  ["execute(rm -rf*)", "rm a", false],
  ["execute(/usr/bin/git push*)", "git push", true],
  ["execute(git push*)", "cat $FILE *.ts", false],
  ["execute(*secret*)", "cat $FILE", true],
  ["execute(*secret*)", "cat *.txt", true],
  ["execute", "anything", true],
])("%s catches %j: %s", (rule, text, expected) => {
  expect(compileRule(rule).catches(command(text))).toBe(expected);
});

const rules = (...texts: string[]) => texts.map((text) => compileRule(text));

it.each([
  ["npm test && npm run build", true],
  ["npm test | tail -5", true],
  ["npm test; ls", false],
  ["cd web && npm test", true],
  ["cd web && npm run build", false],
  ["npm test > log", true],
  ["npm test > log2", false],
])("rules allow %j together: %s", (line, expected) => {
  const list = rules(
    "execute(npm test*)",
    "execute(npm run *)",
    "execute(tail *)",
    "execute(cd web && npm test)",
    "execute(npm test > log)",
  );
  expect(allowing(list, command(line)).length > 0).toBe(expected);
});

it("lets no two rules allow a command in another folder", () => {
  expect(allowing(rules("execute(cd web)", "execute(npm test)"), command("cd web && npm test"))).toEqual([]);
});

it.each([
  ["python3 -m tool -q", true],
  ["python3 -m tool -q && git status", true],
  ["python3 -m tool -q; git push", false],
  ["cat a | python3 -m tool -q", false],
  ["python3 -m tool", false],
  ["sh -c $X", false],
])("a rule without a star clears %j where a rule denies: %s", (line, isClear) => {
  const deny = rules("execute(git push*)");
  const allow = rules("execute", "execute(*)", "execute(python3 -m tool -q)", "execute(sh -c $X)");
  expect(catching(deny, allow, command(line)) === undefined).toBe(isClear);
});

it.each([
  ["write_file(src/**)", "/src/a.ts", true, true],
  ["write_file(src/**)", "src/deep/a.ts", true, true],
  ["write_file(src/**)", "/lib/a.ts", false, false],
  ["write_file(src/**)", "/src/../lib/a.ts", false, false],
  ["write_file(src/**)", "/SRC/a.ts", false, true],
  ["write_file(**/*.md)", "/docs/a.md", true, true],
  ["write_file(/a.md)", "/a.md", true, true],
  ["*_file(src/**)", "/src/a.ts", true, true],
  ["edit_file(src/**)", "/src/a.ts", false, false],
])("%s of %j allows: %s, catches: %s", (text, path, allows, catches) => {
  const rule = compileRule(text);
  expect([rule.allows(write(path)), rule.catches(write(path))]).toEqual([allows, catches]);
});

it("a rule matches the arguments of a tool, and tools by a part of their name", () => {
  expect(compileRule("task(research*)").allows({ tool: "task", about: ["researcher"] })).toBe(true);
  expect(compileRule("mcp__github__*").allows({ tool: "mcp__github__search" })).toBe(true);
  expect(compileRule("mcp__github__*").allows({ tool: "mcp__git__search" })).toBe(false);
  expect(compileRule("web(https://a*)").allows({ tool: "web" })).toBe(false);
});

it.each(["", "a b", "(x)", "execute()", "execute(x"])("%j is no rule", (text) => {
  expect(RULE.test(text)).toBe(false);
});

it("takes no long time over any pattern", () => {
  const rule = compileRule(`execute(echo ${"*a".repeat(2000)})`);
  expect(rule.catches(command(`echo ${"a".repeat(100_000)}b`))).toBe(false);
});

it("a pattern on Windows allows only the same line, and catches every command", async () => {
  const [starred, exact] = [compileRule("execute(git *)"), compileRule("execute(git status)")];
  await onPlatform("win32", () => {
    expect(starred.allows(command("git status"))).toBe(false);
    expect(exact.allows(command("git status"))).toBe(true);
    expect(exact.allows(command("git status @(ri x)"))).toBe(false);
    expect(starred.catches(command("& ('gi' + 't') push"))).toBe(true);
    expect(compileRule("execute").allows(command("dir"))).toBe(true);
  });
});
