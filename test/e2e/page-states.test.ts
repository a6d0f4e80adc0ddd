import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Question } from "../../web/src/client/contract.ts";
import {
  expectSound,
  expectSoundByHand,
  expectSoundInBoth,
  expectText,
  hasBrowser,
  openPage,
  openTab,
  openTimeline,
  WIDTHS,
} from "../helpers/page/browser.ts";
import { COMMAND, LONG, RULED, WRITE } from "../helpers/page/questions.ts";
import { TOKEN } from "../helpers/page/stand-in.ts";
import { pageSuite } from "../helpers/page/suite.ts";
import {
  busyThread,
  failedThread,
  planChange,
  story,
  THREAD,
  threadOf,
  todo,
  withEarlierPlan,
} from "../helpers/page/thread-events.ts";
import { isRelease } from "../helpers/runner/rounds.ts";

const SIZES = [
  [1280, 800],
  [800, 1000],
  [360, 740],
] as const;

/** Whether somebody sees all of an element without scrolling. */
// oxlint-disable-next-line no-implied-eval -- it is for the page: tests have no types of a document
const isInSight = new Function(
  "element",
  `const { left, top, right, bottom } = element.getBoundingClientRect();
  const corners = [[left + 6, top + 6], [right - 6, bottom - 6]];
  return corners.every(([x, y]) => element.contains(document.elementFromPoint(x, y)));`,
) as (element: unknown) => boolean;

/** Whether nothing is over an element once it is scrolled to. */
// oxlint-disable-next-line no-implied-eval -- it is for the page: tests have no types of a document
const isUncovered = new Function(
  "element",
  `element.scrollIntoView({ block: "nearest" });
  const { left, top, bottom } = element.getBoundingClientRect();
  const heights = [top + 4, (top + bottom) / 2, bottom - 4];
  return heights.every((y) => element.contains(document.elementFromPoint(left + 6, y)));`,
) as (element: unknown) => boolean;

/** The plan of the request before stands folded below the present one, and opens. */
async function expectEarlierPlan(page: Page): Promise<void> {
  const plan = page.getByRole("region", { name: "Plan" });
  const item = plan.getByText("Measure how long each request takes");
  expect(await plan.locator(".items").first().innerText()).toContain("Run the tests");
  expect(await item.isVisible()).toBe(false);
  await plan.getByText("Plan 1: Find out why the settings page is slow").click();
  await item.waitFor();
}

/** States that a real server is not in at will: lost connections, edits at the same moment, many tabs, hostile text. */
describe.runIf(hasBrowser)("the page", () => {
  const suite = pageSuite();

  it.each(WIDTHS)("is sound in every region, %i px wide, light and dark", async (width) => {
    suite.server.add(withEarlierPlan(busyThread()));
    // Colours that are on their way to others are neither.
    const page = await suite.open({ viewport: { width, height: 800 }, reducedMotion: "reduce" });
    if (width > 800) {
      await page.getByRole("link", { name: /Move the settings page/ }).click();
      await page.getByRole("button", { name: /docs\/fields.md/ }).click();
      await expectText(page, "Two of them are checked on the server.");
      await expectEarlierPlan(page);
      return expectSoundInBoth(page);
    }
    await page.getByRole("button", { name: "Threads" }).click();
    await expectSoundInBoth(page);
    await page.getByRole("link", { name: /Move the settings page/ }).click();
    await expectText(page, "I will first read how the page works today.");
    await expectSoundInBoth(page);
    await page.getByRole("button", { name: "Plan", exact: true }).click();
    await expectText(page, "Run the tests");
    await expectEarlierPlan(page);
    await expectSoundInBoth(page);
    await page.getByRole("button", { name: "Edit" }).click();
    await expectSoundInBoth(page);
    await page.getByRole("button", { name: "Files" }).click();
    await page.getByRole("button", { name: /docs\/fields.md/ }).click();
    await expectText(page, "Two of them are checked on the server.");
    await expectSoundInBoth(page);
  });

  it.each(isRelease ? [3, 12, 60] : [60])(
    "keeps a question about %i items in sight, and its buttons, at every size",
    async (count) => {
      const todos = Array.from({ length: count }, (_, at) => todo(`${at + 1}`, `Part ${at + 1} of the work`));
      const text = "Calls beside it: write_file docs/fields.md\nShall it be done so?";
      const content = Array.from({ length: count * 10 }, (_, line) => `Line ${line}`).join("\n");
      const plan = { id: "p", kind: "plan-approval" as const, text, options: [], todos };
      const write = { ...WRITE, call: { ...WRITE.call!, args: { file_path: "long.md", content } } };
      const ask = { ...plan, kind: "clarification" as const, text: content, options: ["Yes", "No"] };
      const told = {
        ...busyThread(),
        questions: [plan as Question],
        thread: threadOf({ status: "waiting" }),
      };
      suite.server.add(told);
      for (const question of (count === 60 ? [plan, write, ask] : [plan]) as Question[]) {
        told.questions = [question];
        const page = await suite.openThread({ viewport: { width: 1280, height: 800 } });
        const card = page.locator(".card.question");
        const [approve, reject] =
          question.kind === "clarification" ? [/^Yes$/, /^Answer$/] : [/^Approve/, /^Reject$/];
        const parts = [
          card.locator("h2"),
          ...[approve, reject].map((name) => card.getByRole("button", { name })),
        ];
        for (const [width, height] of SIZES) {
          await page.setViewportSize({ width, height });
          for (const part of parts)
            await expect.poll(() => part.evaluate(isInSight), { message: `${width} x ${height}` }).toBe(true);
        }
        await expectSoundByHand(page);
        await page.close();
      }
    },
  );

  it.runIf(isRelease)("asks for its key when the key is missing or no longer valid", async () => {
    const page = await openPage(suite.browser, suite.url);
    await page.getByRole("heading", { name: "This page needs its key" }).waitFor();
    await expectSound(page);
    const other = await openPage(suite.browser, `${suite.url}#token=old`);
    await other.getByRole("heading", { name: "The key is not valid any more" }).waitFor();
    await expectSound(other);
  });

  it("takes the key that the user puts into the address of an open tab", async () => {
    for (const was of ["", "#token=old"]) {
      const page = await openPage(suite.browser, `${suite.url}${was}`);
      await page.getByRole("heading", { name: /key/ }).waitFor();
      await page.goto(`${suite.url}#token=${TOKEN}`);
      await expectText(page, "No threads yet.");
      expect(page.url()).not.toContain(TOKEN);
    }
  });

  it("uses its own key next to a tab with an old key, and gives its key to other tabs", async () => {
    const old = await openPage(suite.browser, `${suite.url}#token=old`);
    await old.getByRole("heading", { name: "The key is not valid any more" }).waitFor();
    const page = await openTab(await old.context().newPage(), `${suite.url}#token=${TOKEN}`);
    await expectText(page, "No threads yet.");
    const tab = await openTab(await old.context().newPage(), suite.url);
    await expectText(tab, "No threads yet.");
    suite.server.send("thread", threadOf());
    await Promise.all([page, tab].map((each) => expectText(each, threadOf().title!)));
    expect(suite.server.streams).toBe(1);
  });

  it("removes its key from the address, keeps it over a reload and shares it with tabs", async () => {
    const page = await suite.open();
    await expectText(page, "No threads yet.");
    expect(page.url()).not.toContain(TOKEN);
    await page.reload();
    await expectText(page, "No threads yet.");
    const tab = await openTab(await page.context().newPage(), suite.url);
    await expectText(tab, "No threads yet.");
    expect(await page.context().cookies()).toEqual([]);
  });

  it("has a sentence for every part that is empty or gone", async () => {
    suite.server.add({ thread: threadOf({ status: "done", todos: { done: 0, total: 0 } }), events: [] });
    const page = await suite.openThread();
    await expectText(page, "Nothing was said yet.", "No plan yet.", "No files changed yet.");
    await openTimeline(page);
    await expectText(page, "Nothing has happened yet.");
    await expectText(page.getByRole("status"), "Idle");
    await page.getByRole("searchbox").fill("x");
    suite.server.send("removed", { id: THREAD });
    await expectText(page, "No thread has these words.");
    await expectText(page, "This thread is not here any more.");
    await expectSound(page);
  });

  it("does not bring back a thread that was removed while the list was loading", async () => {
    suite.server.add({ thread: threadOf({ status: "done", todos: { done: 0, total: 0 } }), events: [] });
    const page = await suite.openThread();
    await expectText(page, "Nothing was said yet.");
    const release = suite.server.hold("GET threads");
    await page.getByRole("searchbox").fill("x");
    suite.server.send("removed", { id: THREAD });
    await expectText(page, "No thread has these words.");
    const answered = page.waitForResponse(/threads\?/);
    release();
    await (await answered).finished();
    await expectText(page, "This thread is not here any more.");
    expect(await page.getByRole("link", { name: /Move the settings page/ }).count()).toBe(0);
    await expectText(page, "No thread has these words.");
  });

  it("keeps what happened while older threads were on their way", async () => {
    const named = (id: string, updatedAt: number) => ({
      ...threadOf({ status: "done" }),
      id,
      title: id,
      updatedAt,
    });
    for (const [at, id] of ["oldest", "old", "removed", "newer"].entries()) {
      suite.server.add({ thread: named(id, at + 1), events: [] });
    }
    suite.server.pageSize = 2;
    const page = await suite.open();
    await expectText(page, "newer", "removed");
    const release = suite.server.hold("GET threads");
    await page.getByRole("button", { name: "Show older threads" }).click();
    suite.server.send("removed", { id: "removed" });
    suite.server.send("removed", { id: "old" });
    suite.server.send("thread", named("newest", 9));
    await expectText(page, "newest");
    release();
    await expectText(page, "oldest");
    expect(await page.locator(".thread-title").allTextContents()).toEqual(["newest", "newer", "oldest"]);
  });

  it("knows the name of an old thread, and loads the threads between it and the newest", async () => {
    for (const [at, id] of ["oldest", "old", "newer", "newest"].entries()) {
      const thread = { ...threadOf({ status: "done" }), id, title: `The ${id}`, updatedAt: at + 1 };
      suite.server.add({ thread, events: [] });
    }
    suite.server.pageSize = 1;
    const page = await suite.open();
    await expectText(page, "The newest");
    await page.evaluate("location.hash = '#/t/oldest'");
    const heading = page.getByRole("heading", { name: "The oldest" });
    await heading.waitFor();
    const titles = page.locator(".thread-title");
    for (const shown of [2, 3, 4]) {
      await page.getByRole("button", { name: "Show older threads" }).click();
      await expect.poll(() => titles.count()).toBe(shown);
    }
    expect(await titles.allTextContents()).toEqual(["The newest", "The newer", "The old", "The oldest"]);
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await expect.poll(() => titles.count()).toBe(1);
    await heading.waitFor();
    expect(await page.title()).toMatch(/^The oldest · Idle/);
  });

  it("clears nothing on a lost connection, and shows missed events on reconnect", async () => {
    suite.server.add(busyThread());
    const page = await suite.openThread();
    await expectText(page, "I will first read");
    suite.server.tell({ ...suite.at(50), type: "text", owner: "main", text: "Before " });
    await expectText(page, "Before");
    suite.server.drop();
    await expectText(page.getByRole("status"), "Connection lost.");
    await expectText(page, "I will first read");
    await expectText(page, "Rewrite the page");
    suite.server.tell({ ...suite.at(51), type: "text", owner: "main", text: "and after" });
    suite.server.back();
    await expectText(page, "Before and after");
    await expectText(page.getByRole("status"), "Working");
  });

  it("shows missed events after an empty start, and after a list that came first", async () => {
    // Of a run that goes on the page asks again by itself.
    suite.server.add(failedThread());
    const release = suite.server.hold("GET events");
    const refused = { status: 503, body: { error: "internal", message: "Not now." } };
    suite.server.replies.set("GET events", [refused]);
    const page = await suite.openThread();
    await expectText(page, "The run failed.");
    suite.server.tell({ ...suite.at(50), type: "notice", text: "Before the stream." });
    release();
    await expectText(page, "Before the stream.");
    suite.server.drop();
    await expectText(page.getByRole("status"), "Connection lost.");
    suite.server.tell({ ...suite.at(51), type: "notice", text: "While nobody listened." });
    suite.server.back();
    await expectText(page, "While nobody listened.");
  });

  it.runIf(isRelease)(
    "says why each part failed to load, next to the loaded parts, and tries again",
    async () => {
      suite.server.add(busyThread());
      const failure = (message: string) => [{ status: 500, body: { error: "internal", message } }];
      suite.server.replies.set("GET info", failure("No info."));
      suite.server.replies.set("GET threads", failure("No list."));
      suite.server.replies.set(`GET threads/${THREAD}/files`, failure("No files."));
      suite.server.replies.set(`GET threads/${THREAD}/history`, failure("No steps."));
      const page = await suite.open();
      const threads = page.getByRole("navigation", { name: "Threads" });
      const sentences: [Locator, string][] = [
        [page.getByRole("main"), "What the server offers could not be loaded. No info."],
        [threads, "The threads could not be loaded. No list."],
        [page.getByRole("region", { name: "Files" }), "The files could not be loaded. No files."],
        [
          page.getByRole("region", { name: "Timeline" }),
          "The steps of the run could not be loaded. No steps.",
        ],
      ];
      await expectText(threads, sentences[1]![1]);
      expect(await threads.getByText("Loading the threads…").count()).toBe(0);
      await page.evaluate(`location.hash = "#/t/${THREAD}"`);
      await expectText(page, "I will first read");
      const slider = await openTimeline(page);
      for (const [where, words] of sentences) await expectText(where.getByRole("alert"), words);
      expect(await page.getByText("Loading the files…").count()).toBe(0);
      await expectSound(page);
      for (const [where, words] of sentences) {
        await where.getByRole("button", { name: "Try again" }).click();
        await where.getByText(words).waitFor({ state: "detached" });
      }
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByRole("button", { name: /docs\/fields.md/ }).waitFor();
      await slider.waitFor();
    },
  );

  it("says that a thread could not be loaded, and loads it when the connection is back", async () => {
    suite.server.add(busyThread());
    const failure = { status: 500, body: { error: "internal", message: "Not now." } };
    suite.server.replies.set(`GET threads/${THREAD}`, [failure, failure]);
    const page = await suite.openThread();
    const sentence = "The thread could not be loaded. Not now.";
    await expectText(page.getByRole("alert"), sentence);
    await expectText(page, "The plan is shown once the thread is there.");
    await expectText(page, "The files are shown once the thread is there.");
    await expectSound(page);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => suite.server.replies.get(`GET threads/${THREAD}`)).toEqual([]);
    await expectText(page.getByRole("alert"), sentence);
    suite.server.drop();
    await expectText(page.getByRole("status"), "Connection lost.");
    suite.server.back();
    await expectText(page, "I will first read", "Rewrite the page");
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("loads everything again when the server no longer has the missed events", async () => {
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    await expectText(page, "I will first read");
    told.events.push({ ...suite.at(52), type: "notice", text: "Said while nobody listened." });
    suite.server.send("gap", {});
    await expectText(page, "Said while nobody listened.");
    expect(await page.getByText("I will first read").count()).toBe(1);
  });

  it.runIf(isRelease)("updates an open file after another change of as many lines", async () => {
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    await page.getByRole("button", { name: /docs\/fields.md/ }).click();
    await expectText(page, "Two of them are checked on the server.");
    told.files = told.files!.map((file) => ({ ...file, after: "# Fields\n\nNine.\nThree are checked.\n" }));
    suite.server.tell({ ...suite.at(50), type: "answer", id: "q", answer: "Yes." });
    await expectText(page, "Three are checked.");
  });

  it("shows a thread of another program, and offers nothing that would continue it", async () => {
    const told = busyThread();
    told.thread = { ...told.thread, status: "done", isForeign: true };
    suite.server.add(told);
    const page = await suite.openThread();
    await expectText(page, "Only that program can continue it.");
    await expectText(page, "Rewrite the page");
    expect(await page.getByRole("textbox", { name: "Next task" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  });

  it.each([
    ["the question on a phone", LONG, { width: 390, height: 844 }, ".question p >> nth=-1"],
    ["a rule of a plan", RULED, { width: 1280, height: 800 }, ".rules-field textarea"],
    ["a command behind a write", COMMAND, { width: 1280, height: 800 }, ".card:nth-of-type(2) .command"],
  ] as const)("covers no part of %s by buttons", async (_, question, viewport, what) => {
    const questions = question === COMMAND ? [WRITE, COMMAND] : [question];
    suite.server.add({ ...busyThread(), questions, thread: threadOf({ status: "waiting" }) });
    const page = await suite.openThread();
    await page.setViewportSize(viewport);
    const element = page.locator(what).first();
    await element.waitFor();
    await expect.poll(() => element.evaluate(isUncovered)).toBe(true);
  });

  it.each([801, 900, 975, 1280])("keeps each button on one line at a width of %d", async (width) => {
    suite.server.add({ ...busyThread(), thread: threadOf({ status: "done" }) });
    const page = await suite.openThread();
    await page.setViewportSize({ width, height: 800 });
    await page.getByRole("button", { name: "Fork" }).waitFor();
    const broken: unknown = await page.evaluate(`
      [...document.querySelectorAll(".composer-row button, .talk-actions button, .status button")]
        .filter((button) => button.checkVisibility() && button.getBoundingClientRect().height > 60)
        .map((button) => button.textContent)`);
    expect(broken).toEqual([]);
  });

  it("says in the status line that the plan is approved, until the next message", async () => {
    const told = busyThread();
    told.settings = { mode: "plan" };
    suite.server.add(told);
    const page = await suite.openThread();
    const status = page.locator("footer .status-words");
    await expectText(status, "plan");
    const question = { kind: "plan-approval" as const };
    suite.server.tell({ ...suite.at(50), type: "answer", id: "p", answer: { type: "approve" }, question });
    await expectText(status, "plan approved");
    const next = { type: "run-start", model: "m", resumed: true, task: "Else" } as const;
    suite.server.tell({ ...suite.at(51), ...next });
    await expect.poll(() => status.textContent()).not.toContain("plan approved");
  });

  it("reloads only the thread that continued in another process", async () => {
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    await expectText(page, "I will first read");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    told.events.push({ ...suite.at(52), type: "notice", text: "Saved by a terminal." });
    suite.server.send("gap", { thread: "another" });
    suite.server.send("gap", { thread: THREAD });
    await expectText(page, "Saved by a terminal.");
    // The page may still be loading its list, or a part of itself.
    const threads = asked.filter((path) => /^\/holdfast\/threads\/[^/]+$/.test(path));
    expect(threads).toEqual([`/holdfast/threads/${THREAD}`]);
    expect(await page.getByText("I will first read").count()).toBe(1);
  });

  it.runIf(isRelease)("reloads a thread of another process only after the last load has ended", async () => {
    const told = busyThread();
    suite.server.add(told);
    const page = await suite.openThread();
    await expectText(page, "I will first read");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const loads = (): number => asked.filter((path) => path === `/holdfast/threads/${THREAD}`).length;
    const release = suite.server.hold(`GET threads/${THREAD}`);
    const moved = async (title: string): Promise<void> => {
      suite.server.send("gap", { thread: THREAD });
      suite.server.send("thread", { ...threadOf(), id: title, title });
      await expectText(page, title);
    };
    await moved("Moved once");
    await moved("Moved twice");
    await moved("Moved again");
    expect(loads()).toBe(1);
    told.events.push({ ...suite.at(52), type: "notice", text: "Saved by a terminal." });
    release();
    await expectText(page, "Saved by a terminal.");
    expect(loads()).toBe(2);
  });

  it.runIf(isRelease)(
    "works in eight tabs over one stream, and continues when the reading tab closes",
    async () => {
      suite.server.add(busyThread());
      const first = await suite.openThread();
      const context = first.context();
      const others = await Promise.all(
        Array.from({ length: 7 }, async () => openTab(await context.newPage(), first.url())),
      );
      const tabs = [first, ...others];
      await Promise.all(tabs.map((tab) => tab.getByText("I will first read").waitFor()));
      suite.server.tell({ ...suite.at(50), type: "notice", text: "Heard by all." });
      await Promise.all(tabs.map((tab) => tab.getByText("Heard by all.").waitFor()));
      expect(suite.server.streams).toBe(1);
      await first.close();
      suite.server.tell({ ...suite.at(51), type: "notice", text: "Heard by the others." });
      await Promise.all(others.map((tab) => tab.getByText("Heard by the others.").waitFor()));
      await expect.poll(() => suite.server.streams).toBe(1);
    },
  );

  it.runIf(isRelease)("shows what there is though the tab that reads the stream is asleep", async () => {
    suite.server.add(busyThread());
    const [kept] = suite.browser.contexts();
    const asleep = await kept!.newPage();
    await asleep.route("**", (route) => route.fulfill({ body: "" }));
    await asleep.goto(suite.url);
    // Whoever has the lock reads for all: this one has it and says nothing.
    await asleep.evaluate(
      `void navigator.locks.request("holdfast-events ${TOKEN}", () => new Promise(() => {}))`,
    );
    const page = await suite.openThread();
    await expectText(page, "I will first read");
  });

  it("shows the words of models, tools and files only as text", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>[x](javascript:alert(3))`;
    const { at, events } = story();
    const todos = [todo("1", evil, "in_progress", { note: evil })];
    at(0, { type: "run-start", model: evil, resumed: false, task: evil });
    at(
      1,
      planChange(todos, { changes: [{ type: "todo-status", id: "1", from: "pending", to: "in_progress" }] }),
    );
    at(2, {
      type: "text",
      owner: "main",
      text: `# ${evil}\n\n- ${evil}\n\n| ${evil} |\n|---|\n| ${evil} |\n`,
    });
    at(3, {
      type: "tool-end",
      owner: "main",
      call: "c",
      name: evil,
      about: evil,
      ok: false,
      result: evil,
      output: evil,
      args: { [evil]: evil },
    });
    at(4, { type: "subagent-start", owner: "main/a:1", name: evil, description: evil, todoId: "1" });
    at(5, { type: "tool-start", owner: "main/a:1", call: "d", name: evil, about: evil });
    at(6, { type: "notice", text: evil });
    suite.server.add({
      thread: threadOf({ title: evil, dir: evil, status: "waiting" }),
      events,
      questions: [
        { id: "q1", kind: "clarification", text: evil, options: [evil], error: evil },
        {
          id: "q2",
          kind: "permission",
          text: evil,
          options: [],
          owner: `main/${evil}:1`,
          call: { owner: "main", call: "c", name: evil, args: { [evil]: evil } },
        },
        {
          id: "q3",
          kind: "permission",
          text: evil,
          options: [],
          call: { owner: "main", call: "e", name: "write_file", args: { file_path: evil, content: evil } },
        },
        { id: "q4", kind: "plan-approval", text: evil, options: [], todos },
      ],
      files: [{ path: `/${evil}`, before: `${evil}\n`, after: `<b>${evil}\n`, isKnown: true }],
    });
    const page = await suite.open();
    await page.getByRole("link", { name: /onerror/ }).click();
    for (const summary of await page.locator("main details > summary").all()) await summary.click();
    await page.locator(".file").click();
    await page.locator(".files .diff").waitFor();
    expect(
      await page.locator("#page img, #page script, #page b, #page iframe, a[href^='javascript']").count(),
    ).toBe(0);
    expect(await page.getByText("alert(2)").count()).toBeGreaterThan(20);
    await expectSound(page);
  });

  it("shows invisible characters in a name that the user decides about", async () => {
    suite.server.add({
      ...busyThread(),
      questions: [
        {
          id: "q",
          kind: "permission",
          text: "",
          options: [],
          call: { owner: "main", call: "c", name: "execute", args: { command: "cat \u202Efdp.sh" } },
        },
      ],
    });
    const page = await suite.openThread();
    await expectText(page, String.raw`cat \u{202e}fdp.sh`);
  });
});
