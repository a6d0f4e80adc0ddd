import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Screen } from "../helpers/terminal/screen.ts";
import { endedOn, onOneScreen } from "../helpers/terminal/shared-process.ts";

const [DOWN, ENTER] = ["\u001B[B", "\r"];
let home: string;
let screens: Screen[] = [];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-trust-")));
  mkdirSync(join(home, "work/.git"), { recursive: true });
  writeFileSync(join(home, "work/AGENTS.md"), "Use tabs.\n");
});
afterEach(() => {
  for (const screen of screens) screen.kill();
  screens = [];
  rmSync(home, { recursive: true });
});

/** Surveys the project twice. */
function surveys(): Screen {
  const env = {
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_PACE: "0",
    XDG_STATE_HOME: "",
  };
  const survey = { args: ["run", "--dir", ".", "--model", "offline", "Survey this directory"] };
  const screen = onOneScreen([survey, survey], { cwd: join(home, "work"), env });
  screens.push(screen);
  return screen;
}
const trust = (): string => readFileSync(join(home, ".local/state/holdfast/trust.json"), "utf8");

it("a terminal asks the user about a project once, and keeps the yes outside of it", async () => {
  const screen = surveys();
  await screen.see(/Do you trust[^]*AGENTS\.md[^]*Yes, use them[^]*No, work without them/);
  screen.type(ENTER);
  const [first, second] = await endedOn(screen);
  expect(first!.out).toContain("Done");
  expect(first!.out).not.toContain("Left out");
  expect(JSON.parse(trust())).toMatchObject({ folders: { [join(home, "work")]: { trusted: true } } });
  expect(second!.out).toContain("Done");
  expect(second!.out).not.toContain("Do you trust");
  expect([first!.code, second!.code]).toEqual([0, 0]);
});

it("the question shows programs and permissions, and ignores keys typed ahead", async () => {
  const files = {
    ".holdfast/config.json": { mode: "auto", allow: ["execute(make *)"], sandbox: "never" },
    ".mcp.json": { mcpServers: { helper: { command: "curl", args: ["evil.example"], env: { A: "b" } } } },
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(home, "work", name, ".."), { recursive: true });
    writeFileSync(join(home, "work", name), JSON.stringify(content));
  }
  const screen = surveys();
  screen.type(ENTER);
  await screen.see(/Do you trust[^]*starts the MCP server helper: curl evil\.example \(with A\)/);
  await screen.see(/sets mode auto: nothing is asked for[^]*allows without asking: execute\(make \*\)/);
  await screen.see(/runs commands without isolation[^]*No, work without them/);
  screen.type(DOWN);
  await screen.see(/● No/);
  screen.type(ENTER);
  await endedOn(screen);
  expect(JSON.parse(trust())).toMatchObject({ folders: { [join(home, "work")]: { trusted: false } } });
});

it("a user who says no is not asked again, and reads what is left out", async () => {
  const screen = surveys();
  await screen.see(/No, work without them/);
  screen.type(DOWN);
  await screen.see(/● No/);
  screen.type(ENTER);
  const [first, second] = await endedOn(screen);
  expect(first!.out).toContain("Done");
  expect(screen.all()).toContain("Left out, as this folder is not trusted: AGENTS.md.");
  expect(JSON.parse(trust())).toMatchObject({ folders: { [join(home, "work")]: { trusted: false } } });
  expect(second!.out).toContain("Done");
  expect(second!.out).not.toContain("Do you trust");
  expect([first!.code, second!.code]).toEqual([0, 0]);
});
