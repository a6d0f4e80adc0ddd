// Records two sessions on a pseudo-terminal: the demo as docs/demo.svg, and the offline survey of the examples as
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

/** Agrees to every call and takes the first answer to a question, until the task is done. */
async function agree({ type, see }) {
  const seen = /Allow it\?|Your answer|what shall be done/;
  for (;;) {
    let screen = "";
    await see({ test: (text) => seen.test((screen = text)) });
    const [asked] = seen.exec(screen);
    if (asked === "what shall be done") return type(CTRL_D);
    await type(asked === "Your answer" ? ENTER : "1");
    await see({ test: (text) => !text.includes(asked) });
  }
}

await record({
  file: "docs/demo.svg",
  title:
    "holdfast demo: a failing test is mended, each call is asked for, and the plan is live below the text",
  line: "holdfast demo",
  args: ["demo"],
  cwd: home,
  env: { ...env, TMPDIR: home },
  act: agree,
});
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
