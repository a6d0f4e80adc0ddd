import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { held, sessionStages, type SessionStage } from "../../../../test/helpers/terminal/session.ts";
import { readSkills } from "../../../middleware/skills/read-skills.ts";
import { sqliteSaver } from "../../../storage/index.ts";
import { callTool, type Step } from "../../../testing/index.ts";

const [ENTER, ESC] = ["\r", "\u001B"];
const IDLE = /^> what shall be done/m;
/** A call that differs from all others, as equal ones would be refused. */
const look = () => callTool("ls", { path: `/${crypto.randomUUID()}` });

const stages = sessionStages();

/** A session on the thread of another session, which has ended its first turn. */
async function onItsThread(before: SessionStage, options: Parameters<typeof stages.open>[1]) {
  before.type(`first${ENTER}`);
  await before.see(/One\./);
  await before.until(() => !before.session.isBusy);
  const thread = before.session.thread!.id;
  return { thread, open: () => stages.open(["Never."], { ...options, thread }) };
}

describe("a session on a thread that another process runs", () => {
  it("shows that the thread runs elsewhere, and passes messages to the running agent", async () => {
    const saver = await sqliteSaver(":memory:");
    const second = held(look);
    const atWork: Step = ({ messages }) => {
      const isTold = (words: string) => messages.some(({ text }) => text === words);
      if (isTold("be brief")) return "Two.";
      return isTold("second") ? second.step : "One.";
    };
    const other = await stages.open([atWork], { saver, loop: true });
    const { open } = await onItsThread(other, { saver });
    other.type(`second${ENTER}`);
    await second.begun;
    const stage = await open();
    await stage.see(/> second\n\nAnother process works on it/);
    stage.type(`be brief${ENTER}`);
    await stage.see(/Another process works on this thread: its agent reads this at its next call\./);
    second.go();
    await other.see(/> be brief[^]*Two\./);
    await stage.see(IDLE);
    expect(other.asked(other.model.requests.length - 1).at(-1)).toBe("human: be brief");
    expect(stage.all()).not.toContain("It was stopped in the middle");
    expect(stage.model.requests).toHaveLength(0);
  });

  it("puts a withdrawn or unread message back into the prompt", async () => {
    const saver = await sqliteSaver(":memory:");
    const { thread, open } = await onItsThread(await stages.open(["One."], { saver }), { saver });
    const release = await saver.acquireThread(thread);
    const stage = await open();
    stage.type(`be brief${ENTER}`);
    await stage.see(/Ctrl-C\s+takes\s+it\s+back/);
    stage.type(ESC);
    await stage.see(/your message is in the prompt again\.[^]*^> be brief$/m);
    stage.type(ENTER);
    await stage.until(() => stage.all().match(/Ctrl-C\s+takes\s+it\s+back/g)?.length === 2);
    await release();
    await stage.see(/No agent is working on the thread[^]*^> be brief$/m);
    stage.type(ENTER);
    await stage.see(/Never\./);
    expect(stage.asked(0).at(-1)).toBe("human: be brief");
  });

  it("puts the words of a skill back into the prompt, as they begin a run", async () => {
    mkdirSync(join(stages.home, "skills/review"), { recursive: true });
    const text = "---\nname: review\ndescription: How we review\n---\nLook twice.";
    writeFileSync(join(stages.home, "skills/review/SKILL.md"), text);
    const { skills } = await readSkills([join(stages.home, "skills")]);
    const saver = await sqliteSaver(":memory:");
    const options = { saver, project: { skills } };
    const { thread, open } = await onItsThread(await stages.open(["One."], options), options);
    const release = await saver.acquireThread(thread);
    const stage = await open();
    stage.type(`/review the diff${ENTER}`);
    await stage.see(/is in use by process[^]*^> \/review the diff$/m);
    expect(stage.model.requests).toHaveLength(0);
    await release();
  });
});
