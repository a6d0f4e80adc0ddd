import { createAgent } from "langchain";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { planMiddleware } from "../../src/middleware/index.ts";
import { sqliteSaver } from "../../src/storage/index.ts";
import { listen } from "../../src/surfaces/server/listen.ts";
import { createServer } from "../../src/surfaces/server/server.ts";
import { callTool, ScriptedModel } from "../../src/testing/index.ts";
import { closeContexts, expectText, hasBrowser, openBrowser, openPage } from "../helpers/page/browser.ts";

describe.runIf(hasBrowser)("the page of a server with a graph of the user's own", () => {
  afterAll(async () => closeContexts(await openBrowser()));

  it("takes a second message, and offers Undo, Fork, and an edit of the plan", async () => {
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["Count the boats", "Count the nets"] }),
      callTool("update_todos", { done: "1, 2", note: "by hand" }),
      "Three boats.",
      "And two oars.",
    ]);
    const agent = createAgent({ model, tools: [], middleware: [planMiddleware({ verify: false })] });
    const saver = await sqliteSaver(":memory:");
    const server = await createServer({
      graphs: { counter: agent },
      checkpointer: saver,
      token: "secret",
      page: true,
    });
    const listening = await listen(server, { port: 0, hostname: "127.0.0.1" });
    onTestFinished(async () => {
      await server.close();
      await listening.close();
      saver.close();
    });
    const page = await openPage(await openBrowser(), `${listening.url}/#token=secret`);
    await page.getByLabel("Task").fill("Count them");
    await page.getByRole("button", { name: "Start" }).click();
    await expectText(page, "Three boats.");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.getByRole("button", { name: "Fork" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    // The mode is a setting of Holdfast's own agent.
    expect(await page.locator("footer .status-words").textContent()).not.toContain("edits");
    await page.getByLabel("Next task").fill("And the oars");
    await page.getByRole("button", { name: "Send" }).click();
    await expectText(page, "And two oars.");
  });
});
