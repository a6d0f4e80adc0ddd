import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { questionContract, reasonIn, textOf } from "../../../../test/contracts/questions.ts";
import { held, sessionStages } from "../../../../test/helpers/terminal/session.ts";
import { sqliteSaver, type SqliteSaver } from "../../../storage/index.ts";
import { callTool } from "../../../testing/index.ts";

const [ENTER, DOWN] = ["\r", "\u001B[B"];
const execute = (command: string) => callTool("execute", { command });
const write = (path: string) => callTool("write_file", { file_path: path, content: "x" });

const stages = sessionStages();

describe("in a session", () => {
  let saver: SqliteSaver;
  questionContract(
    () => ({
      dir: stages.home,
      store: () => saver,
      play: async ({ replies, settings, answers }) => {
        saver = await sqliteSaver(":memory:");
        const stage = await stages.open(replies, { settings, saver });
        stage.type(`go${ENTER}`);
        let last: string | undefined;
        for (const answer of answers) {
          // A question behind another result, or about another file. Both are read from the screen: a request of the
          // model may be on its way while the answered question still stands there.
          const question = (): string | undefined => {
            const lines = stage.lines();
            const shown = lines.join("\n");
            const results = lines.filter((line) => /^[✓✗] /.test(line)).length;
            const [, file] = /[^]*\b(\w\.txt)[^]*Allow it\?/.exec(shown) ?? [];
            const isAsked = /Allow it\?|Work on this plan\?|type your answer/.test(shown);
            return isAsked ? `${results} ${file}` : undefined;
          };
          await stage.until(() => question() !== undefined && question() !== last);
          last = question();
          const key = { approve: "1", always: "2" }[answer];
          stage.type(key ?? `${reasonIn(answer) ?? answer}${ENTER}`);
        }
        await stage.until(() => stage.model.requests.length === replies.length);
        await stage.see(/^> what shall be done/m);
        return stage.model.requests.map(textOf);
      },
    }),
    { hasAlways: true },
  );
});

it("a command is shown as typed, and allowed permanently by its first words only", async () => {
  const steps = [execute("echo one 1"), execute("echo one 2"), execute("echo one; touch made"), "Done so."];
  const stage = await stages.open(steps, { settings: { shell: true, sandbox: "never" } });
  stage.type(`go${ENTER}`);
  await stage.see(/^\$ echo one 1\n[^]*2\. yes, and always commands that begin with echo one/m);
  stage.type("2");
  await stage.see(
    /✓ \$ echo one 2[^]*^\$ echo one; touch made\n[^]*begin with echo one or touch made\n {2}n\. no/m,
  );
  stage.type("n");
  await stage.see(/Done so\./);
  expect(existsSync(join(stages.home, "made"))).toBe(false);
  expect(readFileSync(join(stages.home, "state/holdfast/allowed.json"), "utf8")).toContain(
    "execute(echo one *)",
  );
});

it("a command without a safe beginning is allowed permanently only as a whole", async () => {
  const version = "node --version";
  const steps = [execute(version), execute(version), execute(`${version} && echo two`), "Done so."];
  const stage = await stages.open(steps, { settings: { shell: true, sandbox: "never" } });
  stage.type(`go${ENTER}`);
  await stage.see(/^\$ node --version\n[^]*2\. yes, and always this exact command$/m);
  stage.type("2");
  await stage.see(/2\. yes, and always commands that begin with echo two, and exactly node --ver/);
  stage.type("1");
  await stage.see(/✓ \$ node --version && echo two[^]*Done so\./);
  expect(readFileSync(join(stages.home, "state/holdfast/allowed.json"), "utf8")).toContain(
    '"execute(node --version)"',
  );
});

it.each(["bash -c true", "git -c a.b=c status", "env true", "find . -delete"])(
  "%j cannot be allowed permanently, as its arguments may be any program",
  async (command) => {
    const stage = await stages.open([execute(command), "Done so."], {
      settings: { shell: true, sandbox: "never" },
    });
    stage.type(`go${ENTER}`);
    await stage.see(/^\$ [^]*1\. yes\n {2}n\. no/m);
    stage.type(`n${ENTER}`);
    await stage.see(/Done so\./);
    expect(existsSync(join(stages.home, "state/holdfast/allowed.json"))).toBe(false);
  },
);

it("a failed command's line says so, with the end of its output", async () => {
  const stage = await stages.open([execute("echo why; exit 3"), "Oh."], {
    settings: {
      shell: true,
      sandbox: "never",
      mode: "auto",
    },
  });
  stage.type(`go${ENTER}`);
  await stage.see(/✗ \$ echo why; exit 3 exit 3.*\n {4}why\n[^]*Oh\./);
  expect(stage.asked(1).at(-1)).toContain("why");
});

it("a question ends with call and mode, n means no, and rm has no permanent yes", async () => {
  const run = (command: string) => callTool("execute", { command });
  const stage = await stages.open([write("/src/a.txt"), run("rm -rf data"), run("npm test"), "Well."], {
    settings: { mode: "ask", shell: true },
  });
  stage.type(`go${ENTER}`);
  await stage.see(/^Allow it\? write src\/a\.txt \(mode ask\)\n {2}1\. yes\n[^]* {2}n\. no$/m);
  stage.type("n");
  await stage.see(/^Allow it\? \$ rm -rf data \(mode ask\)\n {2}1\. yes\n {2}n\. no$/m);
  stage.type("n");
  await stage.see(
    /^Allow it\? \$ npm test \(mode ask\)\n {2}1\. yes\n {2}2\. yes, and always[^\n]*\n {2}n\. no$/m,
  );
  stage.type("n");
  await stage.see(/Well\./);
  for (const at of [1, 2, 3]) expect(stage.asked(at).at(-1)).toContain("does not allow this");
});

it("plan mode reads, waits for approval of the plan, and then works", async () => {
  const plan = callTool("write_todos", { todos: ["Write a"] });
  const stage = await stages.open([write("/early.txt"), plan, write("/a.txt"), "Written."], {
    settings: { mode: "plan" },
  });
  stage.type(`go${ENTER}`);
  await stage.see(/✗ write early\.txt[^]*Work on this plan\?/);
  expect(existsSync(join(stages.home, "early.txt"))).toBe(false);
  stage.type("1");
  await stage.see(/Written\./);
  expect(existsSync(join(stages.home, "a.txt"))).toBe(true);
});

it("mode plan shows its approval, and asks again for a new plan or message", async () => {
  const plan = (...todos: string[]) => callTool("write_todos", { todos });
  const atWork = held(write("/a.txt"));
  const stage = await stages.open(
    [
      plan("Write a", "Check a"),
      atWork.step,
      plan("Write a", "Rewrite date.js"),
      "Then not.",
      "Not now.",
      "Not now.",
      write("/readme.md"),
      callTool("update_todos", { start: "2" }),
      write("/readme.md"),
      "Written.",
      "Written.",
      "Written.",
    ],
    { settings: { mode: "plan" }, columns: 120 },
  );
  stage.type(`go${ENTER}`);
  await stage.see(/Work on this plan\?/);
  expect(stage.lines().at(-1)).toMatch(/^plan \(shift-tab\)/);
  stage.type("1");
  await atWork.begun;
  await stage.see(/^plan approved \(shift-tab\)/m);
  atWork.go();
  await stage.see(
    /The agent changes the plan: (?=[^]*2 "Check a" is now cancelled)[^]*added 3 "Rewrite date\.js" \(pending\)[^]*It would be:[^]*Work on this plan\?/,
  );
  stage.type("3");
  await stage.see(/Not now\.[^]*what shall be done/);
  // The plan that was approved is still open.
  expect(stage.lines().at(-1)).toMatch(/^plan approved \(shift-tab\)/);
  stage.type(`Add a readme${ENTER}`);
  await stage.see(/✗ write readme\.md[^]*nothing but progress[^]*Work on this plan\?/);
  expect(stage.lines().at(-1)).toMatch(/^plan \(shift-tab\)/);
  expect(existsSync(join(stages.home, "readme.md"))).toBe(false);
  stage.type("1");
  await stage.see(/✓ write readme\.md[^]*Written\./);
});

it("an approved plan stays approved after a stop, and its label says so", async () => {
  const plan = callTool("write_todos", { todos: ["Write a.txt", "Check it"] });
  const saver = await sqliteSaver(":memory:");
  const settings = { mode: "plan" as const };
  const first = await stages.open([plan, write("/b.txt")], { settings, saver });
  first.type(`go${ENTER}`);
  await first.see(/Work on this plan\?/);
  first.type("1");
  await first.see(/Allow it\? write b\.txt/);
  first.type("\u001B");
  await first.see(/Interrupted[^]*^plan approved \(shift-tab\)/m);
  const thread = first.session.thread!.id;
  const ready = /Allow it\? write b\.txt/;
  const second = await stages.open([], { settings, saver, thread, ready });
  await expect.poll(() => second.lines().at(-1)).toMatch(/^plan approved \(shift-tab\)/);
});

it("the question about writing a file of the thread shows its content", async () => {
  const settings = { dir: undefined, mode: "ask" as const };
  const again = callTool("write_file", { file_path: "/a.txt", content: "y" });
  const stage = await stages.open([write("/a.txt"), again, "Written."], { settings });
  stage.type(`go${ENTER}`);
  await stage.see(/write a\.txt \+1 −0\n\+x\n[^]*Allow it\?/);
  stage.type("1");
  await stage.see(/write a\.txt \+1 −1\n-x\n\+y\n[^]*Allow it\?/);
  stage.type("1");
  await stage.see(/Written\./);
  expect(stage.asked(2).at(-1)).not.toContain("Error");
});

it("a file named by its address is shown by its path in the directory", async () => {
  const file = join(stages.home, "a.txt");
  const read = callTool("read_file", { file_path: file });
  const stage = await stages.open([write(file), read, "Written."], { settings: { mode: "auto" } });
  stage.type(`go${ENTER}`);
  await stage.see(/✓ write a\.txt 1 line[^]*✓ read a\.txt[^]*Written\./);
  expect(stage.all()).not.toContain(stages.home);
});

it("keys typed just before a question do not answer it", async () => {
  let quiet = (): void => {};
  const onQuiet = (then: () => void) => {
    quiet = then;
    return () => void (quiet = () => {});
  };
  const stage = await stages.open([write("/a.txt"), "Written."], { onQuiet });
  stage.type(`go${ENTER}`);
  await stage.see(/Allow it\?/);
  stage.type(`${ENTER}${DOWN}${ENTER}1`);
  await stage.see(/Allow it\?[^]*^> 1$/m);
  stage.type("\u007F");
  await stage.see(/Allow it\?[^]*^> ?$/m);
  expect(existsSync(join(stages.home, "a.txt"))).toBe(false);
  quiet();
  await stage.see(/^> or type why not/m);
  // Nothing is chosen yet.
  stage.type(ENTER);
  stage.type(DOWN);
  await stage.see(/❯ 1\. yes/);
  expect(existsSync(join(stages.home, "a.txt"))).toBe(false);
  stage.type(ENTER);
  await stage.see(/Written\./);
});

it("a reason may begin with a digit, and a digit alone is a choice", async () => {
  let quiet = (): void => {};
  const onQuiet = (then: () => void) => {
    quiet = then;
    return () => void (quiet = () => {});
  };
  const steps = [write("/a.txt"), write("/b.txt"), write("/c.txt"), "Written."];
  const stage = await stages.open(steps, { onQuiet });
  const asked = async (): Promise<void> => {
    await stage.see(/Allow it\?/);
    quiet();
    await stage.see(/^> or type why not/m);
  };
  stage.type(`go${ENTER}`);
  await asked();
  stage.type("1");
  stage.type("st the tests");
  await stage.see(/^> 1st the tests$/m);
  quiet();
  stage.type(ENTER);
  await stage.see(/b\.txt[^]*Allow it\?/);
  expect(stage.asked(1).at(-1)).toContain("1st the tests");
  await asked();
  stage.type("1");
  await stage.see(/^> 1$/m);
  quiet();
  await stage.see(/c\.txt[^]*Allow it\?/);
  await asked();
  stage.type("1");
  await stage.see(/^> 1$/m);
  stage.type(ENTER);
  await stage.see(/Written\./);
  expect(["a", "b", "c"].map((name) => existsSync(join(stages.home, `${name}.txt`)))).toEqual([
    false,
    true,
    true,
  ]);
});

it("a no holds when a permanent permission for a later call would cover both", async () => {
  const steps = [[execute("touch one"), execute("touch two")], "Done so."];
  const stage = await stages.open(steps, { settings: { shell: true, sandbox: "never" } });
  stage.type(`go${ENTER}`);
  await stage.see(/^\$ touch one[^]*Allow it\?/m);
  stage.type(`one is mine${ENTER}`);
  await stage.see(/^\$ touch two[^]*Allow it\?/m);
  stage.type("2");
  await stage.see(/Done so\./);
  expect(["one", "two"].map((name) => existsSync(join(stages.home, name)))).toEqual([false, true]);
  expect(stage.asked(1).join("\n")).toContain("one is mine");
});

it("a second question waits for the open one, and both get their answers", async () => {
  const stage = await stages.open([write("/a.txt"), "Written."], { settings: { sandbox: "never" } });
  stage.type(`go${ENTER}`);
  await stage.see(/Allow it\?/);
  stage.type(`/mode auto${ENTER}`);
  await stage.see(/> \/mode auto\n/);
  expect(stage.all()).not.toContain("Nothing isolates commands here");
  stage.type("1");
  await stage.see(/Nothing isolates commands here[^]*1\. no\n/);
  stage.type("2");
  await stage.see(/auto \(shift-tab\)/);
  await stage.see(/Written\./);
  expect(existsSync(join(stages.home, "a.txt"))).toBe(true);
});

it("Esc takes all questions away", async () => {
  const stage = await stages.open([write("/a.txt"), "Without it."], { settings: { sandbox: "never" } });
  stage.type(`go${ENTER}`);
  await stage.see(/Allow it\?/);
  stage.type(`/mode auto${ENTER}`);
  await stage.see(/> \/mode auto\n/);
  stage.type("\u001B");
  await stage.see(/^> what shall be done/m);
  expect(stage.session.mode).toBe("ask");
  expect(existsSync(join(stages.home, "a.txt"))).toBe(false);
});

it("Esc at a question stops the turn, and the next message drops the call", async () => {
  const stage = await stages.open([write("/a.txt"), "Without it."], { settings: {} });
  stage.type(`go${ENTER}`);
  await stage.see(/Allow it\?/);
  stage.type("\u001B");
  await stage.see(/^> what shall be done/m);
  stage.type(`leave it${ENTER}`);
  await stage.see(/Without it\./);
  expect(existsSync(join(stages.home, "a.txt"))).toBe(false);
  expect(stage.asked(1).map((one) => one.split(":")[0])).toEqual(["human", "ai", "tool", "human"]);
});
