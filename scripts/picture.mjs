// Records a real run and a real session, the offline survey of the examples on a pseudo-terminal, as docs/run.svg and
// docs/session.svg.
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { record } from "./recording.mjs";

const ENTER = "\r";
const CTRL_D = "\u0004";

const home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-picture-")));
const cwd = join(home, "examples");
cpSync(new URL("../examples", import.meta.url), cwd, { recursive: true });
const env = { HOME: home, XDG_STATE_HOME: join(home, "state"), HOLDFAST_STATE: join(home, "threads.db") };

await record({
  file: "docs/run.svg",
  title: "holdfast run: the offline model surveys a directory, with its plan live below the text",
  line: 'holdfast run --dir examples "Survey this directory"',
  args: ["run", "--no-project", "--dir", "examples", "--model", "offline", "Survey this directory"],
  cwd: home,
  env,
});
rmSync(join(cwd, "survey.md"));
await record({
  file: "docs/session.svg",
  title: "A session of holdfast: a task, the live plan, a write that is asked for as a diff, and /undo",
  line: "holdfast",
  args: ["--model", "offline"],
  cwd,
  env,
  act: async ({ type, see }) => {
    await see(/what shall be done/);
    await type(`Survey this directory${ENTER}`);
    await see(/Allow it\?/);
    await type("1");
    await see(/Done \(8\/8[^]*what shall be done/);
    await type(`/undo${ENTER}`);
    await see(/Taken back/);
    await type("\u0003");
    await type(CTRL_D);
  },
});
rmSync(home, { recursive: true });
