import { describe, expect, it } from "vitest";
import { applyUpdate } from "../apply/index.ts";
import { PRESETS } from "../presets/presets.ts";
import { dueReminders, type Situation } from "../presets/reminders.ts";
import { TodoManager } from "../todo-manager.ts";
import { LEAN_POLICY } from "../todo/policy.ts";
import type { Todo } from "../todo/todo.ts";
import { parseMarkdown, renderMarkdown } from "./markdown.ts";
import { renderMermaid } from "./mermaid.ts";
import { renderChecklist, renderSnapshot, renderStatus } from "./render.ts";

const PLAN: Todo[] = [
  { id: "1", content: "Read", status: "completed" },
  { id: "2", content: 'Build "it" & $&', status: "in_progress", priority: "high", estimate: 30 },
  { id: "3", content: "Check", status: "pending", dependsOn: ["2"], note: "twice" },
  { id: "4", content: "Ask", status: "blocked", note: "on leave" },
  { id: "5", content: "Rest", status: "cancelled" },
];

describe("a plan is drawn", () => {
  it("as the checklist of the lesson", () => {
    expect(renderChecklist(PLAN)).toBe(
      '[x] #1: Read\n[>] #2: Build "it" & $&\n[ ] #3: Check\n[!] #4: Ask\n[-] #5: Rest\n\n(1/5 completed)',
    );
    expect(renderChecklist([])).toBe("\n(0/0 completed)");
  });

  it("as one line", () => {
    expect(renderStatus(PLAN)).toBe("1/4 done; now 2; blocked 4.");
    expect(renderStatus([])).toBe("No plan.");
  });

  it("as one line that names the next item only when a model would not expect it", () => {
    const status = (...items: [id: string, status: Todo["status"], more?: Partial<Todo>][]): string =>
      renderStatus(items.map(([id, is, more]) => ({ id, content: id, status: is, ...more })));
    expect(status(["1", "in_progress"], ["2", "pending"])).toBe("0/2 done; now 1.");
    expect(status(["1", "in_progress"], ["2", "in_progress"], ["3", "pending"])).toBe("0/3 done; now 1, 2.");
    const afterFirst = { dependsOn: ["1"] };
    expect(status(["1", "in_progress"], ["2", "pending", afterFirst], ["3", "pending"])).toBe(
      "0/3 done; now 1.",
    );
    const unexpected: [string, string][] = [
      [
        status(["1", "in_progress"], ["2", "pending"], ["3", "pending", { priority: "high" }]),
        "0/3 done; now 1; next 3.",
      ],
      [status(["1", "in_progress"], ["3", "pending"], ["2", "pending"]), "0/3 done; now 1; next 3."],
      [status(["1", "in_progress"], ["2", "cancelled"], ["3", "pending"]), "0/2 done; now 1; next 3."],
      [status(["1", "completed"], ["2", "pending"]), "1/2 done; next 2."],
      [status(["a", "in_progress"], ["b", "pending"]), "0/2 done; now a; next b."],
      [
        status(["1", "in_progress"], ["2", "pending", { dependsOn: ["3"] }], ["3", "blocked"]),
        "0/3 done; now 1; 2 waits on 3; blocked 3.",
      ],
    ];
    for (const [line, expected] of unexpected) expect(line).toBe(expected);
  });

  it.each<[string, Partial<Todo>, Partial<Todo>]>([
    ["an item that waits on the current one", { dependsOn: ["1"] }, {}],
    ["an urgent one that waits on the current one", {}, { dependsOn: ["1"], priority: "high" }],
    ["one that waits on nothing", { dependsOn: ["4"] }, {}],
  ])("as one line that names what starts next: %s", (_, second, third) => {
    const todos: Todo[] = [
      { id: "1", content: "a", status: "in_progress" },
      { id: "2", content: "b", status: "pending", ...second },
      { id: "3", content: "c", status: "pending", ...third },
      { id: "4", content: "d", status: "pending", dependsOn: ["1"] },
    ];
    const after = applyUpdate({ todos, nextId: 5, retired: [] }, { done: "1" }, LEAN_POLICY);
    const started = after.ok && after.plan.todos.find(({ status }) => status === "in_progress")!.id;
    expect(renderStatus(todos)).toBe(`0/4 done; now 1${started === "2" ? "" : `; next ${started}`}.`);
  });

  it("as a snapshot for the model", () => {
    expect(renderSnapshot(PLAN)).toBe(
      '[x] 1: Read\n[>] 2: Build "it" & $& (high)\n[ ] 3: Check (after 2; twice)\n[!] 4: Ask (on leave)\n[-] 5',
    );
  });

  it("as a Mermaid graph whose labels cannot break it", () => {
    expect(renderMermaid(PLAN).split("\n").slice(0, 7)).toEqual([
      "graph TD",
      '  t1["1: Read"]:::completed',
      '  t2["2: Build #34;it#34; #38; #36;#38;"]:::in_progress',
      '  t3["3: Check"]:::pending',
      '  t4["4: Ask"]:::blocked',
      '  t5["5: Rest"]:::cancelled',
      "  t2 --> t3",
    ]);
  });

  it("as Markdown that the user can edit", () => {
    const text = renderMarkdown(PLAN);
    expect(text).toContain(
      '- [>] #2: Build "it" & $&\n  - priority: high\n  - estimate: 30\n- [ ] #3: Check\n  - after: 2\n  - note: twice\n',
    );
    expect(parseMarkdown(text)).toEqual({ ok: true, todos: PLAN });
    const edited = `# My plan\n\nSome prose.\n\n* [X] done by hand\n    - [ ] nested\n${text}`;
    const parsed = parseMarkdown(edited.replaceAll("\n", "\r\n"));
    expect(parsed.ok && parsed.todos.slice(0, 2)).toEqual([
      { content: "done by hand", status: "completed" },
      { content: "nested", status: "pending" },
    ]);
  });

  it("with a mark on an unverified item, and with the fields of a verifier", () => {
    const todos: Todo[] = [
      { id: "1", content: "Read", status: "completed", unverified: true, note: "by heart" },
      { id: "2", content: "Test", status: "in_progress", key: "tests", mustVerify: true },
    ];
    expect(renderChecklist(todos)).toContain("[x] #1: Read (unverified)\n[>] #2: Test\n");
    expect(renderSnapshot(todos)).toBe("[x] 1: Read (unverified)\n[>] 2: Test (must be verified)");
    expect(renderMermaid(todos)).toContain("1: Read #40;unverified#41;");
    expect(parseMarkdown(renderMarkdown(todos))).toEqual({ ok: true, todos });
  });

  it("but not from Markdown with impossible values", () => {
    const result = parseMarkdown("- [?] a\n- [ ] b\n  - priority: soon\n  - estimate: long\n");
    expect(!result.ok && result.issues.map((issue) => issue.message)).toEqual([
      'Line 1: "[?]" is not a mark; use [ ] pending, [>] in_progress, [x] completed, [!] blocked, [-] cancelled.',
      'Line 3: priority is "soon"; use high, medium or low.',
      'Line 4: estimate is "long"; use minutes as a number.',
    ]);
  });
});

describe("dueReminders", () => {
  const calm: Situation = {
    todos: PLAN,
    visible: true,
    edits: [],
    rounds: 0,
    nags: 0,
    exits: 0,
    answered: false,
  };
  const kinds = (situation: Partial<Situation>, preset: keyof typeof PRESETS = "lean"): string[] =>
    dueReminders({ ...calm, ...situation }, PRESETS[preset].reminders).map((reminder) => reminder.kind);

  it("decides by the situation", () => {
    expect(kinds({})).toEqual([]);
    expect(kinds({ visible: false })).toEqual(["context-loss"]);
    expect(kinds({ edits: [{ type: "todo-remove", id: "9" }] })).toEqual(["edited"]);
    expect(kinds({ edits: [{ type: "todo-remove", id: "9" }], visible: false })).toEqual([
      "edited",
      "context-loss",
    ]);
    expect(kinds({ rounds: 3 })).toEqual(["stale"]);
    expect(kinds({ rounds: 3, visible: false })).toEqual(["context-loss"]);
    expect(kinds({ rounds: 5, nags: 1 })).toEqual([]);
    expect(kinds({ answered: true })).toEqual(["exit"]);
    expect(kinds({ answered: true, exits: 2 })).toEqual([]);
    expect(kinds({ answered: true, visible: false, rounds: 9 }, "classic")).toEqual([]);
  });

  it("leaves a finished plan and a stuck one alone", () => {
    const finished = PLAN.filter((todo) => todo.status === "completed" || todo.status === "cancelled");
    const stuck: Todo[] = [PLAN[3]!, { id: "6", content: "x", status: "pending", dependsOn: ["4"] }];
    for (const todos of [finished, stuck, []]) {
      expect(kinds({ todos, rounds: 30 })).toEqual([]);
      expect(kinds({ todos, answered: true })).toEqual([]);
    }
    expect(kinds({ todos: [PLAN[3]!], visible: false })).toEqual(["context-loss"]);
    expect(kinds({ todos: finished, visible: false })).toEqual([]);
  });

  it("puts text from the plan in unharmed", () => {
    const [reminder] = dueReminders({ ...calm, visible: false }, PRESETS.lean.reminders);
    expect(reminder?.text).toContain('[>] 2: Build "it" & $& (high)');
  });
});

describe("TodoManager", () => {
  it("validates, renders and nags like the lesson's", () => {
    const manager = new TodoManager();
    expect(
      manager.update([
        { text: "Read", status: "completed" },
        { text: "Write", status: "in_progress" },
      ]),
    ).toBe("[x] #1: Read\n[>] #2: Write\n\n(1/2 completed)");
    expect(() =>
      manager.update([
        { text: "a", status: "in_progress" },
        { text: "b", status: "in_progress" },
      ]),
    ).toThrow("Only one task can be in_progress at a time");
    expect(manager.todos).toHaveLength(2);
    const nags = [false, false, false, false, true, false].map((used) => manager.endRound(used));
    const nag = "<reminder>Update your todos.</reminder>";
    expect(nags).toEqual([undefined, undefined, nag, nag, undefined, undefined]);
  });
});
