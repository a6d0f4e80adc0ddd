import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Screen } from "./screen.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
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

function survey(): Screen {
  const env = {
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_PACE: "0",
    XDG_STATE_HOME: "",
  };
  const words = ["run", "--dir", ".", "--model", "offline", "Survey this directory"];
  const screen = new Screen([process.execPath, MAIN, ...words], { cwd: join(home, "work"), env });
  screens.push(screen);
  return screen;
}
const trust = (): string => readFileSync(join(home, ".local/state/holdfast/trust.json"), "utf8");

it("a person at a terminal is asked about a project once, and their yes is kept outside of it", async () => {
  const first = survey();
  await first.see(/Do you trust[^]*AGENTS\.md[^]*Yes, use them[^]*No, work without them/);
  first.type(ENTER);
  await first.see(/Done \(/);
  expect(await first.exit).toBe(0);
  expect(first.all()).not.toContain("Left out");
  expect(JSON.parse(trust())).toMatchObject({ folders: { [join(home, "work")]: { trusted: true } } });

  const second = survey();
  await second.see(/Done \(/);
  expect(await second.exit).toBe(0);
  expect(second.all()).not.toContain("Do you trust");
});

it("a person who says no is not asked again, and is told what is left out", async () => {
  const first = survey();
  await first.see(/No, work without them/);
  first.type(DOWN);
  await first.see(/● No/);
  first.type(ENTER);
  await first.see(/Done \(/);
  expect(await first.exit).toBe(0);
  expect(first.all()).toContain("Left out, as this folder is not trusted: AGENTS.md.");
  expect(JSON.parse(trust())).toMatchObject({ folders: { [join(home, "work")]: { trusted: false } } });
  const second = survey();
  await second.see(/Done \(/);
  expect(second.all()).not.toContain("Do you trust");
});
