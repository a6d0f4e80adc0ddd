import { methods } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEditor, type Editor } from "../helpers/acp/editor.ts";
import { closeContexts, expectText, hasBrowser, openBrowser, openPage } from "../helpers/page/browser.ts";
import { ServedPage } from "../helpers/page/served-page.ts";

describe("a session of an editor, on the page", () => {
  let served: ServedPage;
  let editor: Editor;
  let session: string;

  beforeAll(async () => {
    served = new ServedPage();
    editor = await startEditor({
      cwd: served.dir,
      env: {
        PATH: process.env["PATH"],
        HOME: served.folder,
        HOLDFAST_STATE: served.state,
        HOLDFAST_MODEL: "offline",
        HOLDFAST_PACE: "0",
      },
      flags: ["--mode", "auto"],
    });
    const begun = await editor.agent.request(methods.agent.session.new, { cwd: served.dir, mcpServers: [] });
    session = begun.sessionId;
    await editor.prompt(session, "Survey this directory");
    await served.start();
  });
  afterAll(async () => {
    await editor.end();
    await served.close();
  });

  it.runIf(hasBrowser)("can be looked at in a browser", async () => {
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, served.address);
      await page.getByRole("link", { name: /Survey this directory/ }).click();
      await expectText(page, /The report is in survey.md/);
      await expectText(page.getByRole("region", { name: "Plan" }), "8 of 8 done");
    } finally {
      await closeContexts(browser);
    }
  });

  it("appears with its plan and messages, continues there, and notifies the editor", async () => {
    const { origin, hash } = new URL(served.address);
    const headers = {
      authorization: `Bearer ${hash.slice("#token=".length)}`,
      "content-type": "application/json",
    };
    const ask = async <Answer>(path: string, body?: object): Promise<Answer> => {
      const more = body && { method: "POST", body: JSON.stringify(body) };
      return (await (
        await fetch(`${origin}/holdfast/threads${path}`, { headers, ...more })
      ).json()) as Answer;
    };
    const open = () => ask<Opened>(`/${session}`);
    const listed = await ask<{ threads: Opened["thread"][] }>("");
    const known = { id: session, title: "Survey this directory", dir: served.dir };
    expect(listed.threads).toMatchObject([{ ...known, status: "done", todos: { done: 8, total: 8 } }]);

    const { thread, events } = await open();
    expect(thread).toMatchObject(known);
    expect(events.find(({ type }) => type === "run-start")).toMatchObject({ task: "Survey this directory" });
    const { todos = [] } = events.findLast(({ type, owner }) => type === "plan-change" && owner === "main")!;
    expect(todos.map(({ status }) => status)).toEqual(Array<string>(8).fill("completed"));
    expect(events.findLast(({ type }) => type === "model-end")?.text).toContain("The report is in survey.md");

    await ask(`/${session}/runs`, { task: "Tell me a joke" });
    await expect
      .poll(async () => (await open()).events.findLast(({ type }) => type === "model-end")?.text, {
        timeout: 120_000,
      })
      .toContain("not a language model");
    editor.clear();
    await editor.agent.request(methods.agent.session.load, {
      sessionId: session,
      cwd: served.dir,
      mcpServers: [],
    });
    expect(JSON.stringify(editor.updates)).toContain("Tell me a joke");
  });
});

interface Opened {
  thread: { id: string; title: string; dir: string; status: string };
  events: { type: string; owner?: string; task?: string; text?: string; todos?: { status: string }[] }[];
}
