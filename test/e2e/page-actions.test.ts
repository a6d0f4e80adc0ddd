import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Todo } from "../../src/plan/index.ts";
import type { Question } from "../../web/src/client/contract.ts";
import { expectSoundByHand, expectText, hasBrowser, openTimeline } from "../helpers/page/browser.ts";
import { CHOICE, COMMAND, EDITS, WRITE } from "../helpers/page/questions.ts";
import { pageSuite } from "../helpers/page/suite.ts";
import {
  BUSY_PLAN,
  busyThread,
  failedThread,
  planChange,
  THREAD,
  threadOf,
  todo,
} from "../helpers/page/thread-events.ts";

/** What somebody does with the page, by mouse and by keyboard. */
describe.runIf(hasBrowser)("on the page,", () => {
  const suite = pageSuite();
  const sent = (route: string): unknown[] =>
    suite.server.asked.filter(({ path }) => path === `threads/${THREAD}/${route}`).map(({ body }) => body);
  const counts = { total: 5, pending: 2, in_progress: 1, completed: 2, blocked: 0, cancelled: 0 };
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
  const waiting = (questions: Question[]) =>
    suite.server.add({ ...busyThread(), questions, thread: threadOf({ status: "waiting" }) });

  describe("a question", () => {
    it("has the focus on its heading, shows a difference, and is approved", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "I will first read");
      const { call, ...event } = WRITE;
      suite.server.tell({ ...suite.at(50), ...event, type: "question", call: call! } as never);
      const card = page.getByRole("region", { name: "The agent wants to use write_file" });
      await expectText(card, "Two of them are checked on the server.", "New.");
      expect(await page.evaluate("document.activeElement.textContent")).toBe(
        "The agent wants to use write_file",
      );
      await expectText(page.getByRole("status"), "Waits for you");
      await expectSoundByHand(page);
      await card.getByRole("button", { name: "Approve" }).click();
      await card.waitFor({ state: "detached" });
      expect(sent("answers")).toEqual([{ answers: { q1: { type: "approve" } } }]);
    });

    it("is approved with a rule that the server offers", async () => {
      waiting([WRITE]);
      suite.server.replies.set(`GET threads/${THREAD}/offers`, [
        { status: 200, body: { offers: { q1: ["writes in docs/"] } } },
      ]);
      const page = await suite.openThread();
      await page.getByRole("button", { name: "Always allow writes in docs/" }).click();
      const answers = { q1: { type: "approve", always: "writes in docs/" } };
      await expect.poll(() => sent("answers")).toEqual([{ answers }]);
    });

    it("says where a file could not be compared, and compares it at another try", async () => {
      waiting([WRITE]);
      suite.server.replies.set(`GET threads/${THREAD}/file`, [
        { status: 500, body: { error: "internal", message: "Not now." } },
      ]);
      const page = await suite.openThread();
      const card = page.getByRole("region", { name: "The agent wants to use write_file" });
      await expectText(card.getByRole("alert"), /could not be compared with the file.* Not now\./);
      await expectText(card, "New.");
      await expectSoundByHand(page);
      await card.getByRole("button", { name: "Try again" }).click();
      await expectText(card.locator(".line-removed"), "Two of them are checked on the server.");
      expect(await card.getByRole("alert").count()).toBe(0);
    });

    it("about a call that is too long for an event shows the whole call", async () => {
      const told = busyThread();
      suite.server.add(told);
      const page = await suite.openThread();
      await expectText(page, "I will first read");
      const { call, ...event } = COMMAND;
      told.questions = [COMMAND];
      const cut = { ...call!, args: { command: "npm …" }, cut: true as const };
      suite.server.tell({ ...suite.at(50), ...event, type: "question", call: cut } as never);
      const card = page.getByRole("region", { name: "The sub-agent researcher wants to use execute" });
      await expectText(card, "npm test");
      expect(await card.getByText("npm …").count()).toBe(0);
    });

    it.each(["Next task", "Search threads"])(
      "does not take the focus from a user who writes in %s",
      async (label) => {
        suite.server.add(busyThread());
        const page = await suite.openThread();
        await page.getByLabel(label).fill("And then");
        suite.server.tell({
          ...suite.at(50),
          type: "question",
          id: "q",
          kind: "clarification",
          text: "Which?",
          options: ["a"],
        });
        await expectText(page, "The agent asks");
        // The heading gets it once it is drawn.
        await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 50)))");
        expect(await page.locator(":focus").inputValue()).toBe("And then");
      },
    );

    it("about several edits of a file shows a difference for each", async () => {
      waiting([EDITS]);
      const page = await suite.openThread();
      const card = page.getByRole("region", { name: "The agent wants to use edit_file" });
      await expectText(card, "src/settings/page.tsx (1 of 2)", "src/settings/page.tsx (2 of 2) (everywhere)");
      await expectText(card.locator(".line-added"), "const fields = [email, slug];", '"new"');
      expect(await card.textContent()).not.toContain("\\n");
      await expectSoundByHand(page);
    });

    it("in words has one field, and the composer keeps its text for the next task", async () => {
      waiting([CHOICE]);
      const page = await suite.openThread();
      const field = page.getByLabel("Or in your own words");
      await field.fill("Round up");
      expect(await page.getByRole("textbox").count()).toBe(1);
      await expectSoundByHand(page);
      await page.getByRole("button", { name: "Answer", exact: true }).click();
      await expect.poll(() => page.getByLabel("Next task").inputValue()).toBe("");
      expect(sent("answers")).toEqual([{ answers: { q3: "Round up" } }]);
      expect(sent("runs")).toEqual([]);
    });

    it("about permission is rejected by the composer's text, which stays on a failure", async () => {
      waiting([WRITE, COMMAND]);
      const page = await suite.openThread();
      await page.getByLabel("Decide on the questions above first").fill("Not there");
      await page.keyboard.press("Enter");
      expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
      const write = page.getByRole("region", { name: "The agent wants to use write_file" });
      await write.getByRole("button", { name: "Approve" }).click();
      const field = page.getByLabel("Reject, and tell the agent why");
      expect(await field.inputValue()).toBe("Not there");
      suite.server.replies.set(`POST threads/${THREAD}/answers`, [
        { status: 500, body: { error: "internal", message: "Not now." } },
      ]);
      // Enter is ignored for half a second after the question has changed its effect.
      await page.waitForTimeout(600);
      await field.press("Enter");
      await expectText(page.getByRole("alert"), "Not now.");
      expect(await field.inputValue()).toBe("Not there");
      await page.getByRole("button", { name: "Send rejection" }).click();
      await expect.poll(() => page.getByLabel("Next task").inputValue()).toBe("");
      const answers = {
        q1: { type: "approve" },
        q2: { type: "reject", message: "Not there" },
      };
      expect(sent("answers")).toEqual([{ answers }, { answers }]);
      expect(sent("runs")).toEqual([]);
    });

    it("from a sub-agent appears in the parent's conversation, and answers go together", async () => {
      waiting([WRITE, COMMAND]);
      const page = await suite.openThread();
      const [write, command] = [
        "The agent wants to use write_file",
        "The sub-agent researcher wants to use execute",
      ].map((name) => page.getByRole("region", { name }));
      await write!.getByRole("button", { name: "Reject" }).click();
      await page.getByLabel("Why not?").fill("Too short");
      await write!.getByRole("button", { name: "Reject" }).click();
      await expectText(page, "Rejected: Too short", "1 of 2 decided.");
      expect(sent("answers")).toEqual([]);
      await command!.getByRole("button", { name: "Edit" }).click();
      await command!.getByLabel("command").fill("npm test -- settings");
      await command!.getByLabel("timeout").fill("soon");
      await command!.getByRole("button", { name: "Approve with changes" }).click();
      await expectText(command!, "This is no valid JSON.");
      await command!.getByLabel("timeout").fill("90");
      await expectSoundByHand(page);
      await command!.getByRole("button", { name: "Approve with changes" }).click();
      await command!.waitFor({ state: "detached" });
      const edited = { name: "execute", args: { command: "npm test -- settings", timeout: 90 } };
      expect(sent("answers")).toEqual([
        {
          answers: {
            q1: { type: "reject", message: "Too short" },
            q2: { type: "edit", editedAction: edited },
          },
        },
      ]);
    });

    it("with three others keeps its size, and their list scrolls", async () => {
      const { call } = WRITE;
      const content = "A line of the file.\n".repeat(12);
      const args = { file_path: "docs/part.md", content };
      waiting(["a", "b", "c", "d"].map((id) => ({ ...WRITE, id, call: { ...call!, call: id, args } })));
      const page = await suite.openThread();
      await page.setViewportSize({ width: 360, height: 800 });
      const cards = page.locator(".card");
      await expect.poll(() => cards.getByText("docs/part.md").count()).toBe(4);
      const cut =
        "[...document.querySelectorAll('.card')].map((card) => card.scrollHeight > card.clientHeight)";
      expect(await page.evaluate(cut)).toEqual([false, false, false, false]);
      const list = "document.querySelector('.questions')";
      expect(await page.evaluate(`${list}.scrollHeight > ${list}.clientHeight`)).toBe(true);
    });

    it("in words has buttons and takes other words", async () => {
      waiting([{ id: "q", kind: "clarification", text: "Which of **two**?", options: ["forms", "formist"] }]);
      const page = await suite.openThread();
      await expectText(page.getByRole("button"), "forms", "formist");
      await page.getByLabel("Or in your own words").fill("neither");
      await page.keyboard.press("Enter");
      await expect.poll(() => sent("answers")).toEqual([{ answers: { q: "neither" } }]);
    });

    it("about a plan is the list itself, to be changed and approved", async () => {
      waiting([
        {
          id: "q",
          kind: "plan-approval",
          text: "",
          options: [],
          todos: [todo("1", "Read"), todo("2", "Write")],
        },
      ]);
      const page = await suite.openThread();
      const card = page.getByRole("region", { name: "The agent proposes a plan" });
      await card.getByRole("textbox", { name: "Item 1" }).fill("Read twice");
      await card.getByRole("button", { name: "Move Write up" }).click();
      await card.getByRole("button", { name: "Add an item" }).click();
      await page.keyboard.type("Rest");
      await expectSoundByHand(page);
      await card.getByRole("button", { name: "Approve with my changes" }).click();
      const todos = [todo("2", "Write"), todo("1", "Read twice"), { content: "Rest", status: "pending" }];
      await expect.poll(() => sent("answers")).toEqual([{ answers: { q: { type: "edit", todos } } }]);
    });

    describe("whose answer does not reach the server", () => {
      const WORDS: Question = { id: "q", kind: "clarification", text: "Which?", options: ["forms"] };
      const plan: Question = {
        id: "q",
        kind: "plan-approval",
        text: "",
        options: [],
        todos: [todo("1", "Read"), todo("2", "Write")],
      };
      const unreachable = async (page: Page): Promise<() => Promise<void>> => {
        await page.route("**/answers", (route) => route.abort());
        return () => page.unroute("**/answers");
      };
      const expectUnreached = (page: Page) =>
        expectText(page.getByRole("alert"), "The server cannot be reached.");

      it("keeps the words of an answer", async () => {
        waiting([WORDS]);
        const page = await suite.openThread();
        const back = await unreachable(page);
        const field = page.getByLabel("Or in your own words");
        await field.fill("neither");
        await field.press("Enter");
        await expectUnreached(page);
        expect(await field.inputValue()).toBe("neither");
        await expectSoundByHand(page);
        await back();
        await field.press("Enter");
        await expect.poll(() => sent("answers")).toEqual([{ answers: { q: "neither" } }]);
      });

      it("keeps the reason for a no, and the decisions on other questions", async () => {
        waiting([WRITE, COMMAND]);
        const page = await suite.openThread();
        const back = await unreachable(page);
        const [write, command] = [
          "The agent wants to use write_file",
          "The sub-agent researcher wants to use execute",
        ].map((name) => page.getByRole("region", { name }));
        await write!.getByRole("button", { name: "Approve" }).click();
        await command!.getByRole("button", { name: "Reject" }).click();
        await command!.getByLabel("Why not?").fill("Too slow");
        await command!.getByRole("button", { name: "Reject" }).click();
        await expectUnreached(page);
        await expectText(page, "Approved.", "1 of 2 decided.");
        expect(await command!.getByLabel("Why not?").inputValue()).toBe("Too slow");
        await back();
        await command!.getByRole("button", { name: "Reject" }).click();
        await command!.waitFor({ state: "detached" });
        expect(sent("answers")).toMatchObject([
          { answers: { q1: { type: "approve" }, q2: { type: "reject", message: "Too slow" } } },
        ]);
      });

      it("keeps edited arguments", async () => {
        waiting([COMMAND]);
        const page = await suite.openThread();
        await unreachable(page);
        await page.getByRole("button", { name: "Edit" }).first().click();
        await page.getByRole("textbox", { name: "command" }).fill("npm test -- settings");
        await page.getByRole("button", { name: "Approve with changes" }).click();
        await expectUnreached(page);
        expect(await page.getByRole("textbox", { name: "command" }).inputValue()).toBe(
          "npm test -- settings",
        );
      });

      it("keeps an edited plan", async () => {
        waiting([plan]);
        const page = await suite.openThread();
        const back = await unreachable(page);
        const card = page.getByRole("region", { name: "The agent proposes a plan" });
        const approve = card.getByRole("button", { name: "Approve with my changes" });
        await card.getByRole("textbox", { name: "Item 1" }).fill("Read twice");
        await approve.click();
        await expectUnreached(page);
        expect(await card.getByRole("textbox", { name: "Item 1" }).inputValue()).toBe("Read twice");
        await back();
        await approve.click();
        await card.waitFor({ state: "detached" });
        expect(sent("answers")).toMatchObject([{ answers: { q: { type: "edit" } } }]);
      });
    });

    it("says that it was answered elsewhere, and shows the current question", async () => {
      waiting([WRITE]);
      suite.server.replies.set(`POST threads/${THREAD}/answers`, [
        { status: 409, body: { error: "gone", message: "This question is not open any more." } },
      ]);
      const page = await suite.openThread();
      await page.getByRole("button", { name: "Approve" }).click();
      await expectText(page, "This question is not open any more.");
    });
  });

  describe("the plan", () => {
    const changed = (id: string, change: Partial<Todo>): Todo[] =>
      BUSY_PLAN.map((item) => (item.id === id ? { ...item, ...change } : item));

    it("is edited in place by keyboard alone, with its base", async () => {
      suite.server.add(busyThread());
      suite.server.replies.set(`PUT threads/${THREAD}/plan`, [{ status: 200, body: { todos: BUSY_PLAN } }]);
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      const last = page.getByRole("textbox", { name: "Item 5" });
      await last.focus();
      await page.keyboard.press("Alt+ArrowUp");
      await page.keyboard.press("Enter");
      await page.keyboard.type("Tidy up");
      await page.keyboard.press("Control+Enter");
      await page.getByRole("button", { name: "Edit" }).waitFor();
      await expectText(page, "The plan is saved. The agent hears of it at its next call");
      const [body] = sent("plan") as [{ todos: { id?: string; content: string }[]; base: unknown }];
      expect(body.base).toEqual(BUSY_PLAN);
      expect(body.todos.map(({ id }) => id)).toEqual(["1", "2", "3", "5", "4", undefined]);
      expect(body.todos.at(-1)).toEqual({ content: "Tidy up", status: "pending" });
    });

    it("keeps the user's text when the window gets narrower and wider", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      const field = page.getByRole("textbox", { name: "Item 4" });
      await field.fill("Rewrite it by hand");
      const tabs = page.getByRole("button", { name: "Threads", exact: true });
      for (const [width, state] of [
        [360, "visible"],
        [1280, "detached"],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        await tabs.waitFor({ state });
        expect(await field.inputValue()).toBe("Rewrite it by hand");
      }
    });

    it("keeps the user's text while another part, moment or thread is shown", async () => {
      suite.server.add(busyThread());
      const other = { ...threadOf({ status: "done" }), id: "other", title: "Another thread" };
      suite.server.add({ thread: other, events: [] });
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      const field = page.getByRole("textbox", { name: "Item 4" });
      await field.fill("Rewrite it by hand");
      const slider = await openTimeline(page);
      await slider.press("Home");
      await expectText(page, /You look at /);
      await page.getByRole("button", { name: "Back to now" }).click();
      expect(await field.inputValue()).toBe("Rewrite it by hand");
      await page.getByRole("link", { name: /Another thread/ }).click();
      await expectText(page, "No plan yet.");
      suite.server.tell({ ...suite.at(50), ...planChange(changed("5", { content: "Test" })) });
      await page.getByRole("link", { name: /Move the settings page/ }).click();
      await expect.poll(() => field.inputValue()).toBe("Rewrite it by hand");
      expect(await page.getByRole("textbox", { name: "Item 5" }).inputValue()).toBe("Test");

      await page.setViewportSize({ width: 360, height: 800 });
      const tab = (name: string) => page.getByRole("button", { name, exact: true });
      await tab("Files").click();
      await tab("Plan").click();
      expect(await field.inputValue()).toBe("Rewrite it by hand");
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Edit" }).click();
      expect(await field.inputValue()).toBe("Rewrite the page");
    });

    it("adds the agent's changes during an edit, and shows both versions of a conflict", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      await page.getByRole("textbox", { name: "Item 4" }).fill("Rewrite it by hand");
      const moved = changed("3", { status: "completed" }).map((item) =>
        item.id === "4" ? { ...item, content: "Rewrite it at once" } : item,
      );
      suite.server.tell({ ...suite.at(50), ...planChange(moved) });
      await expectText(page, "The agent changed this item too.", "Rewrite it at once (To do)");
      expect(await page.getByRole("combobox").nth(2).inputValue()).toBe("completed");
      await expectSoundByHand(page);
      expect(await page.getByRole("button", { name: "Save the plan" }).isDisabled()).toBe(true);
      await page.getByRole("button", { name: "Keep mine" }).click();
      suite.server.replies.set(`PUT threads/${THREAD}/plan`, [{ status: 200, body: { todos: moved } }]);
      await page.getByRole("button", { name: "Save the plan" }).click();
      await page.getByRole("button", { name: "Edit" }).waitFor();
      const [body] = sent("plan") as [{ todos: { content: string; status: string }[]; base: unknown }];
      expect(body.base).toEqual(moved);
      expect(body.todos.slice(2, 4)).toMatchObject([
        { status: "completed" },
        { content: "Rewrite it by hand" },
      ]);
    });

    it("shows the rules of the plan, and lets the user change them", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      suite.server.tell({ ...suite.at(50), ...planChange(changed("3", {})), rules: ["Touch no date"] });
      const list = page.getByRole("region", { name: "Plan" });
      await expectText(list, "Rules", "Touch no date");
      await page.keyboard.press("e");
      const field = page.getByRole("textbox", { name: "Rules for the whole plan, one in a line" });
      expect(await field.inputValue()).toBe("Touch no date");
      await expectSoundByHand(page);
      await field.fill("Touch no date\nNo new packages");
      suite.server.replies.set(`PUT threads/${THREAD}/plan`, [
        { status: 200, body: { todos: changed("3", {}) } },
      ]);
      await page.getByRole("button", { name: "Save the plan" }).click();
      await page.getByRole("button", { name: "Edit" }).waitFor();
      expect(sent("plan")).toMatchObject([{ rules: ["Touch no date", "No new packages"] }]);
      await expectText(list, "No new packages");
    });

    it("keeps the user's changes during a save, on top of the saved plan", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      const item = (place: number) => page.getByRole("textbox", { name: `Item ${place}` });
      await item(4).fill("Rewrite it");
      await page.getByRole("button", { name: "Add an item" }).click();
      await item(6).fill("Tidy up");
      let answer = (): void => {};
      const held = new Promise<void>((resolve) => (answer = resolve));
      const first = [...changed("4", { content: "Rewrite it" }), todo("6", "Tidy up")];
      await page.route("**/plan", async (route) => {
        await held;
        await route.fulfill({ json: { todos: first } });
      });
      const save = page.getByRole("button", { name: "Save the plan" });
      await save.click();
      await item(4).fill("Rewrite it by hand");
      await item(5).fill("Test");
      answer();
      await page.getByRole("button", { name: "Save the plan", disabled: false }).waitFor();
      await page.unroute("**/plan");
      suite.server.replies.set(`PUT threads/${THREAD}/plan`, [{ status: 200, body: { todos: first } }]);
      await save.click();
      await page.getByRole("button", { name: "Edit" }).waitFor();
      const [body] = sent("plan") as [{ todos: { id?: string; content: string }[]; base: unknown }];
      expect(body.base).toEqual(first);
      expect(body.todos.slice(3)).toMatchObject([
        { id: "4", content: "Rewrite it by hand" },
        { id: "5", content: "Test" },
        { id: "6", content: "Tidy up" },
      ]);
      expect(body.todos).toHaveLength(6);
    });

    it("is sent again on top of a newer plan, or shows both versions of a conflict", async () => {
      suite.server.add(busyThread());
      const page = await suite.openThread();
      await expectText(page, "Rewrite the page");
      await page.keyboard.press("e");
      await page.getByRole("textbox", { name: "Item 4" }).fill("Mine");
      const conflict = { error: "plan-conflict", message: "The plan moved on." };
      const other = changed("5", { content: "Test" });
      const same = changed("4", { content: "Theirs" });
      suite.server.replies.set(`PUT threads/${THREAD}/plan`, [
        { status: 409, body: { ...conflict, todos: other } },
        { status: 409, body: { ...conflict, todos: same } },
        { status: 422, body: { error: "invalid-plan", message: "Item 4: no such status." } },
      ]);
      await page.getByRole("button", { name: "Save the plan" }).click();
      await expectText(page, "The agent changed this item too.", "Theirs (To do)");
      await page.getByRole("button", { name: "Take theirs" }).click();
      await page.getByRole("textbox", { name: "Item 1" }).fill("Changed");
      await page.getByRole("button", { name: "Save the plan" }).click();
      await expectText(page, "Item 4: no such status.");
      const bodies = sent("plan") as { todos: { content: string }[]; base: unknown }[];
      expect(bodies.map(({ base }) => base)).toEqual([BUSY_PLAN, other, same]);
      expect(bodies[1]!.todos.map(({ content }) => content).slice(3)).toEqual(["Mine", "Test"]);
    });
  });

  it("Enter sends a task, but not while composing, and the text stays if sending fails", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    const field = page.getByLabel("Next task");
    // The page may be seen before it hears keys.
    await expect
      .poll(async () => {
        await page.keyboard.press("/");
        return page.evaluate("document.activeElement?.tagName");
      })
      .toBe("TEXTAREA");
    await field.fill("");
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.evaluate(
      "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))",
    );
    suite.server.replies.set(`POST threads/${THREAD}/messages`, [
      { status: 429, body: { error: "busy", message: "Too many runs at once." } },
    ]);
    await page.keyboard.press("Enter");
    await expectText(page.getByRole("alert"), "Too many runs at once.");
    expect(await field.inputValue()).toBe("one\ntwo");
    await page.keyboard.press("Enter");
    await expect.poll(() => field.inputValue()).toBe("");
    expect(sent("messages")).toEqual([{ task: "one\ntwo" }, { task: "one\ntwo" }]);
  });

  it("a task that the user writes while another task is being sent is kept", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    const field = page.getByLabel("Next task");
    const release = suite.server.hold(`POST threads/${THREAD}/messages`);
    await field.fill("One");
    await field.press("Enter");
    await expect.poll(() => sent("messages")).toEqual([{ task: "One" }]);
    await field.fill("Two");
    release();
    await page.getByRole("button", { name: "Queue", disabled: false }).click();
    await expect.poll(() => field.inputValue()).toBe("");
    expect(sent("runs")).toEqual([{ task: "Two" }]);
  });

  it("a message to the agent at work is confirmed until it is in the conversation", async () => {
    suite.server.add(busyThread());
    suite.server.replies.set(`POST threads/${THREAD}/messages`, [{ status: 202, body: {} }]);
    const page = await suite.openThread();
    await page.getByLabel("Next task").fill("Be brief");
    await page.keyboard.press("Enter");
    const note = page.getByText("Sent: the agent reads it at its next call.");
    await note.locator("visible=true").waitFor();
    await expectSoundByHand(page);
    suite.server.tell({ ...suite.at(50), type: "message", text: "Be brief" });
    await note.waitFor({ state: "detached" });
    const other = busyThread();
    suite.server.add({ ...other, kept: ["And careful"] });
    suite.server.send("gap", { thread: THREAD });
    await expectText(page, "And careful", "The agent has not read this yet.");
    await expectSoundByHand(page);
    suite.server.tell({ ...suite.at(51), type: "message", text: "And careful" });
    await page.getByText("The agent has not read this yet.").waitFor({ state: "detached" });
    const queued = { status: 202, body: { run: "r2", queued: true } };
    suite.server.replies.set(`POST threads/${THREAD}/runs`, [queued]);
    await page.getByLabel("Next task").fill("Then rest");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.getByText("Queued: the task begins when the agent has finished.").waitFor();
  });

  it("a half-written task stays with its thread while the user looks at other parts", async () => {
    suite.server.add(busyThread());
    const other = { ...threadOf({ status: "done" }), id: "other", title: "Another thread" };
    suite.server.add({ thread: other, events: [] });
    const page = await suite.open();
    await page.getByLabel("Task", { exact: true }).fill("Something new");
    await page.getByRole("link", { name: /Move the settings page/ }).click();
    const field = page.getByLabel("Next task");
    await expect.poll(() => field.inputValue()).toBe("");
    await field.fill("And then");
    await page.getByRole("link", { name: /Another thread/ }).click();
    await expect.poll(() => field.inputValue()).toBe("");
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe("And then");

    await page.setViewportSize({ width: 360, height: 800 });
    const tab = (name: string) => page.getByRole("button", { name, exact: true });
    await tab("Plan").click();
    await tab("Talk").click();
    expect(await field.inputValue()).toBe("And then");
    await field.press("Enter");
    await expect.poll(() => field.inputValue()).toBe("");
    await tab("Threads").click();
    await page.getByRole("button", { name: "New task" }).click();
    expect(await page.getByLabel("Task", { exact: true }).inputValue()).toBe("Something new");
  });

  it("a refusal stays visible until the user's next request, while other data loads", async () => {
    const release = suite.server.hold("GET info");
    suite.server.add(busyThread());
    const page = await suite.openThread();
    suite.server.replies.set(`POST threads/${THREAD}/messages`, [
      { status: 429, body: { error: "busy", message: "Too many runs at once." } },
    ]);
    await page.getByLabel("Next task").fill("Look");
    await page.keyboard.press("Enter");
    await expectText(page.getByRole("alert"), "Too many runs at once.");
    const answered = page.waitForResponse(/info/);
    release();
    await (await answered).finished();
    await expectText(page.getByRole("alert"), "Too many runs at once.");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  it("two options that the user changes before a redraw are both sent", async () => {
    const page = await suite.open();
    await page.getByText("Options").click();
    await page.evaluate(`
      const [approve, , , mode] = document.querySelectorAll(".options select");
      for (const [select, value] of [[approve, "first"], [mode, "ask"]]) {
        select.value = value;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      }`);
    await expect.poll(() => page.getByRole("combobox", { name: /^Mode/ }).inputValue()).toBe("ask");
    await page.getByLabel("Task", { exact: true }).fill("Look");
    await page.keyboard.press("Enter");
    await expect
      .poll(
        () => suite.server.asked.find(({ method, path }) => method === "POST" && path === "threads")?.body,
      )
      .toMatchObject({ task: "Look", settings: { approve: "first", mode: "ask" } });
  });

  it("Enter does nothing just after a question has changed the effect of the message", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    await page.getByLabel("Next task").fill("Also the tests");
    suite.server.tell({ ...suite.at(50), ...WRITE, type: "question" } as never);
    const field = page.getByLabel("Reject, and tell the agent why");
    await field.waitFor();
    await field.press("Enter");
    await page.waitForTimeout(600);
    expect(sent("answers")).toEqual([]);
    await field.press("Enter");
    await expect.poll(() => sent("answers")).toHaveLength(1);
  });

  it("Undo keeps the text of the composer after the message, and a reload keeps both", async () => {
    const told = busyThread();
    const end = { ...suite.at(55), type: "run-end", outcome: "done", exitCode: 0, counts, usage } as const;
    suite.server.add({ ...told, thread: threadOf({ status: "done" }), events: [...told.events, end] });
    const page = await suite.openThread();
    suite.server.replies.set(`POST threads/${THREAD}/undo`, [
      { status: 200, body: { text: "Move it", isFirst: false, notes: [] } },
    ]);
    const field = page.getByLabel("Next task");
    await field.fill("Half a thought");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => field.inputValue()).toBe("Move it\n\nHalf a thought");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("Move it\n\nHalf a thought");
  });

  it("the user undoes the last message, changes settings and sends an image", async () => {
    const told = busyThread();
    const end = { ...suite.at(55), type: "run-end", outcome: "done", exitCode: 0, counts, usage } as const;
    suite.server.add({ ...told, thread: threadOf({ status: "done" }), events: [...told.events, end] });
    const page = await suite.openThread();
    suite.server.replies.set(`POST threads/${THREAD}/undo`, [
      { status: 200, body: { text: "Move it", isFirst: false, notes: ["Files put back: /a.ts"] } },
    ]);
    await page.getByRole("button", { name: "Undo" }).click();
    await expectText(page, "Files put back: /a.ts");
    const field = page.getByLabel("Next task");
    await expect.poll(() => field.inputValue()).toBe("Move it");
    await page.getByText("Options").click();
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("ask");
    await expect.poll(() => sent("settings")).toEqual([{ mode: "ask" }]);
    await page.getByLabel("Summarize the conversation first").check();
    const image = { name: "shot.png", mimeType: "image/png", buffer: Buffer.from("pixels") };
    await page.getByLabel("Images to send").setInputFiles([image, { ...image, name: "b.png" }]);
    await page.getByRole("button", { name: "Remove b.png" }).click();
    await field.press("Enter");
    await expect.poll(() => field.inputValue()).toBe("");
    const images = [{ type: "image/png", data: Buffer.from("pixels").toString("base64") }];
    expect(sent("runs")).toEqual([{ task: "Move it", images, compact: true }]);
  });

  it("a thread from which everything was taken back has no Undo, Fork or Resume", async () => {
    suite.server.add({ thread: threadOf({ status: "stopped" }), events: [] });
    const page = await suite.openThread();
    await page.getByLabel("Next task").waitFor();
    await expectText(page, "Nothing was said yet.");
    for (const name of ["Undo", "Fork", "Resume"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  });

  it("the user stops, resumes and forks a run", async () => {
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => sent("stop")).toEqual([{}]);
    // Whoever reads the thread again finds it stopped.
    suite.server.add({ ...told, thread: threadOf({ status: "stopped" }) });
    suite.server.send("thread", threadOf({ status: "stopped" }));
    suite.server.tell({
      ...suite.at(55),
      type: "run-end",
      outcome: "interrupted",
      exitCode: 130,
      counts,
      usage,
    });
    await expectText(page, "Stopped. Finished work is kept");
    await page.getByRole("button", { name: "Resume" }).dblclick();
    await page.getByRole("button", { name: "Fork" }).dblclick();
    await expect.poll(() => [sent("resume"), sent("fork")]).toEqual([[{}], [{}]]);
  });

  it("the run is gone back through step by step, and forked from there", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    const slider = await openTimeline(page);
    await slider.focus();
    expect(await slider.getAttribute("aria-valuetext")).toBe("Now");
    for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowLeft");
    await expectText(page, /You look at .*, 1 of 5 done/);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^Step 4 of 7, .* 1 of 5 done$/);
    await page.getByText("The page has").waitFor({ state: "detached" });
    await expectSoundByHand(page);
    await page.getByRole("button", { name: "Fork from here" }).click();
    await expect.poll(() => sent("fork")).toEqual([{ checkpoint: "check-3" }]);
    await page.getByRole("button", { name: "Back to now" }).click();
    await expectText(page, "The page has");
  });

  it("a moment that cannot be loaded is not treated as the shown moment", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    const slider = await openTimeline(page);
    const refused = { status: 500, body: { error: "internal", message: "Not now." } };
    suite.server.replies.set(`GET threads/${THREAD}/checkpoints/check-0`, [refused]);
    await slider.press("Home");
    await expectText(page.getByRole("alert"), "Not now.");
    expect(await slider.getAttribute("aria-valuetext")).toBe("Now");
    expect(await page.getByText(/You look at /).count()).toBe(0);
    await slider.press("Home");
    await expectText(page, /You look at .*, 0 of 5 done/);
    await page.getByText("The page has").waitFor({ state: "detached" });
  });

  it("earlier steps are loaded by keyboard, and stay when newer ones come", async () => {
    suite.server.pageSize = 3;
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    const slider = await openTimeline(page);
    const reached = async (): Promise<string | null> => {
      await slider.press("Home");
      return slider.getAttribute("aria-valuetext");
    };
    expect(await reached()).toMatch(/^Step 1 of 3 shown, /);
    const release = suite.server.hold(`GET threads/${THREAD}/history`);
    const more = page.getByRole("button", { name: "Earlier steps" });
    await more.press("Enter");
    await expectText(page, "Loading earlier steps…");
    await expectSoundByHand(page);
    release();
    await more.waitFor();
    await expect.poll(reached).toMatch(/^Step 1 of 6 shown, /);
    await more.press("Enter");
    await more.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.type")).toBe("range");
    expect(await reached()).toMatch(/^Step 1 of 7, /);

    const [newest] = told.checkpoints!.slice(-1);
    told.checkpoints = [...told.checkpoints!, { ...newest!, id: "check-7", at: newest!.at + 1000, step: 7 }];
    suite.server.tell({ ...suite.at(50), type: "answer", id: "q", answer: "Yes." });
    await expect.poll(reached).toMatch(/^Step 1 of 8, /);
    expect(await more.count()).toBe(0);
  });

  it("the page says at an earlier moment that the files are the current files", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    const files = page.getByRole("region", { name: "Files" });
    await expectText(files, "fields.md");
    expect(await files.getByText("as they are now").count()).toBe(0);
    await (await openTimeline(page)).press("Home");
    await expectText(files, /These are the files as they are now, not at /);
    await page.getByRole("button", { name: "Back to now" }).click();
    await files.getByText("as they are now").waitFor({ state: "detached" });
  });

  it("a failed run shows its reason, and Resume next to the task", async () => {
    suite.server.add(failedThread());
    const page = await suite.openThread();
    await expectText(page, "The run failed.", "The model refused the key.");
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await expectText(page.getByRole("status"), "Failed");
    await expectSoundByHand(page);
  });

  it("a thread is handed over as one harmless file", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    await expectText(page, "I will first read");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${THREAD}.html`);
    const html = readFileSync(await download.path(), "utf8");
    expect(html).toContain("I will first read how the page works today.");
    expect(html).not.toContain("<script");
  });

  it("a hidden tab shows in title and notification that it needs the user", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    await page.evaluate(`
      window.told = [];
      window.Notification = class extends EventTarget {
        static permission = "granted";
        constructor(title, { body, tag }) { super(); told.push([title, body, tag].join(" | ")); }
      };
    `);
    await expectText(page, "I will first read");
    await setHidden(page, true);
    suite.server.send("thread", threadOf({ status: "waiting" }));
    await expect
      .poll(() => page.title())
      .toMatch(/^\(1\) Move the settings page .* Waits for you · Holdfast$/);
    const told: unknown = await page.evaluate("told");
    expect(told).toEqual([
      `Holdfast waits for you | Move the settings page to the new form library | ${THREAD}`,
    ]);
    await setHidden(page, false);
    await expect.poll(() => page.title()).toMatch(/^Move/);
  });

  it("a second press deletes a thread, and a double click counts as the first press", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    await page.getByRole("button", { name: "Delete this thread" }).dblclick();
    await page.getByRole("button", { name: "Delete permanently" }).waitFor();
    expect(suite.server.asked).toEqual([]);
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByRole("heading", { name: "Give a task" }).waitFor();
    expect(suite.server.asked).toMatchObject([{ method: "DELETE" }]);
  });

  it("the page moves nothing with reduced motion, and every button is large enough", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread({ reducedMotion: "reduce" });
    await expectText(page, "Rewrite the page");
    const moving: unknown = await page.evaluate("document.getAnimations().length");
    expect(moving).toBe(0);
    const small: unknown = await page.evaluate(
      `[...document.querySelectorAll("button, input, select, textarea, summary")]
        .filter((element) => element.offsetParent && element.getBoundingClientRect().height < 44)
        .map((element) => element.outerHTML)`,
    );
    expect(small).toEqual([]);
  });
});

/** Browsers without a window never hide a tab by themselves. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}
