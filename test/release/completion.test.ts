import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { sqliteSaver } from "../../src/storage/index.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { run } from "../helpers/terminal/run-program.ts";
import { Screen } from "../helpers/terminal/screen.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const HOSTILE = [
  "my thread",
  "$(touch made)",
  "$(touch made):",
  "`touch made`",
  "sur;touch made",
  "survey-1\n--yes",
  ":files",
  "--all",
  "../README",
];
let home: string;
let env: Record<string, string>;
/** Answers as the program does, to a `holdfast` that only asks it: a process for each word would take longer. */
let answering: Server;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-completion-"));
  for (const folder of ["bin", "asks", "work/project"]) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "work/notes.txt"), "");
  const program = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
  writeFileSync(join(home, "bin/holdfast"), program, { mode: 0o755 });
  env = {
    PATH: `${join(home, "bin")}:${process.env["PATH"]}`,
    HOME: home,
    SHELL: "/bin/bash",
    HOLDFAST_STATE: join(home, "threads.db"),
  };
  writeFileSync(
    join(home, "completion.bash"),
    (await run("holdfast", ["completion", "bash"], { env })).stdout,
  );
  for (const thread of ["survey-1", "survey-2.b_c"]) {
    const args = ["run", "--max-turns", "1", "--thread", thread, "Survey this directory"];
    await inPipes(args, { cwd: join(home, "work"), env });
  }
  // Other programs call their threads what they like.
  const saver = await sqliteSaver(env["HOLDFAST_STATE"]!);
  const graph = createDeepAgent({
    model: new ScriptedModel(HOSTILE.map(() => "Hello.")),
    checkpointer: saver,
  });
  for (const thread_id of HOSTILE) await graph.invoke({ messages: "Hello" }, { configurable: { thread_id } });
  saver.close();
  answering = createServer((socket) => {
    let heard = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
      const [count, ...args] = heard.split("\0").slice(0, -1);
      if (args.length === Number(count)) void answer(args).then((said) => socket.end(said));
    });
  });
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
  const { port } = answering.address() as AddressInfo;
  const asks = `#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/${port}\nprintf '%s\\0' "$#" "$@" >&3\ncat <&3\n`;
  writeFileSync(join(home, "asks/holdfast"), asks, { mode: 0o755 });
});
const answer = async (args: string[]): Promise<string> =>
  (await inPipes(args, { cwd: join(home, "work"), env })).out;
afterAll(() => {
  answering.close();
  rmSync(home, { recursive: true });
});

/** What bash would offer for the last of these words, which are broken at : and = as bash breaks them. */
async function offers(...words: string[]): Promise<string[]> {
  const script = `
    source "$HOME/completion.bash"
    COMP_WORDS=(holdfast "$@")
    COMP_CWORD=$#
    _holdfast
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run("bash", ["-c", script, "bash", ...words], {
    cwd: join(home, "work"),
    env: { ...env, PATH: `${join(home, "asks")}:${env["PATH"]}` },
  });
  expect(stderr).toBe("");
  return stdout.split("\n").filter(Boolean);
}

describe("completion in bash", () => {
  it.each([
    [["res"], ["resume"]],
    [["plan", ""], ["edit"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "powershell"],
    ],
    [["run", "--pre"], ["--preset"]],
    [
      ["run", "--preset", ""],
      ["lean", "classic", "deerflow", "checklist"],
    ],
    [["run", "--preset", "=", "cl"], ["classic"]],
    [
      ["run", "--preset", "="],
      ["lean", "classic", "deerflow", "checklist"],
    ],
    [["run", "--approve", "a"], ["always"]],
    [["acp", "--mode", "e"], ["edits"]],
    [["mcp", "--shel"], ["--shell"]],
    [["run", "-m", "anth"], ["anthropic:claude-sonnet-5"]],
    [["run", "-m", "openai", ":"], ["gpt-5.1"]],
    [["run", "-m", "openai", ":", "gpt"], ["gpt-5.1"]],
    [["run", "-m", "openai", ":", "gpt-5.1", "--pres"], ["--preset"]],
    [["run", "--dir", "pro"], ["project"]],
    [["run", "--dir", "="], ["project"]],
    [
      ["show", "--format", "m"],
      ["markdown", "mermaid"],
    ],
    [["show", "survey-1"], ["survey-1"]],
    [["plan", "edit", "survey-2"], ["survey-2.b_c"]],
    [["rm", "survey-1", ""], ["survey-2.b_c"]],
    [["run", "--thread", "survey-1"], ["survey-1"]],
    [["show", "survey-1", "--a"], ["--answer"]],
  ])("%j offers %j", async (words, expected) => {
    expect(await offers(...words)).toEqual(expected);
  });

  it.each([
    [["run", ""]],
    [["show", "survey-1", ""]],
    [["doctor", ""]],
    [["run", "--", "--"]],
    [["show", "x"]],
    ...["my", "$", "$(touch made)", "`", ":", "--al", "..", "sur;"].map((begun) => [["resume", begun]]),
  ])("%j offers nothing: no files, no commands", async (words) => {
    expect(await offers(...words)).toEqual([]);
  });

  it("offers the flags of the command that were not given yet", async () => {
    const flags = await offers("threads", "--all", "--");
    expect(flags.toSorted()).toEqual([
      "--database",
      "--help",
      "--here",
      "--json",
      "--limit",
      "--state",
      "--version",
    ]);
  });

  it("works at the Tab key", async () => {
    const shell = new Screen(["bash", "--norc", "-i"], {
      cwd: join(home, "work"),
      env: { ...env, PS1: "$ " },
    });
    shell.type("source <(holdfast completion)\r");
    await shell.see(/^\$ source.*\n\$/m);
    shell.type("holdfast show survey-1\t");
    await shell.see(/show survey-1 /);
    expect(readdirSync(join(home, "work"))).not.toContain("made");
    shell.type("--form\t");
    await shell.see(/show survey-1 --format /);
    shell.type("mer\t");
    await shell.see(/--format mermaid /);
    shell.type("\u0015holdfast run -m openai:g\t");
    await shell.see(/run -m openai:gpt-5\.1 /);
    shell.type("--dir pr\t");
    await shell.see(/--dir project\//);
    expect(shell.all()).not.toContain("notes.txt");
    shell.kill();
    await shell.exit;
  });
});

it("the script for zsh asks the same program", async () => {
  const { stdout } = await run("holdfast", ["completion"], { env: { ...env, SHELL: "/usr/bin/zsh" } });
  expect(stdout).toMatch(/^#compdef holdfast\n/);
  expect(stdout).toContain('holdfast --complete "${(@Q)words[2,CURRENT]}"');
  expect(stdout).toContain("compdef _holdfast holdfast");
});

it("completion makes no file for threads where there is none", async () => {
  const none = join(home, "none/threads.db");
  const { stdout } = await run("holdfast", ["--complete", "show", ""], {
    env: { ...env, HOLDFAST_STATE: none },
  });
  expect(stdout).toBe("");
  expect((await run("ls", [join(home, "none")])).ok).toBe(false);
});
