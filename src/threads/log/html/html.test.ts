import { describe, expect, it } from "vitest";
import type { StampedEvent } from "../thread-events.ts";
import { EMPTY_THREAD, follow } from "../thread.ts";
import { exportHtml } from "./index.ts";

const EVIL = `</style><script>alert(1)</script><img src=x onerror="alert('2')">`;

describe("an exported thread", () => {
  const stamp = { version: 1 as const, thread: "t", at: 0 };
  const usage = { inputTokens: 1000, outputTokens: 500, cachedTokens: 0 };
  const counts = { total: 1, pending: 0, in_progress: 0, completed: 1, blocked: 0, cancelled: 0 };
  const helper = "main/scout:c1";
  const events: StampedEvent[] = [
    { ...stamp, type: "run-start", model: EVIL, resumed: false, task: EVIL },
    {
      ...stamp,
      type: "plan-change",
      owner: "main",
      by: "model",
      changes: [],
      counts,
      todos: [{ id: "1", content: EVIL, status: "completed", note: EVIL }],
    },
    { ...stamp, type: "model-end", owner: "main", text: EVIL, usage },
    {
      ...stamp,
      type: "tool-end",
      owner: "main",
      call: "c",
      name: EVIL,
      about: EVIL,
      ok: false,
      result: EVIL,
    },
    { ...stamp, type: "subagent-start", owner: helper, name: EVIL, description: EVIL },
    { ...stamp, type: "model-end", owner: helper, text: `helper ${EVIL}`, usage },
    { ...stamp, type: "question", id: "q", kind: "clarification", text: EVIL, options: [] },
    { ...stamp, type: "answer", id: "q", answer: EVIL },
    { ...stamp, type: "notice", text: EVIL },
    { ...stamp, type: "run-end", outcome: "failed", error: EVIL, exitCode: 1, counts, usage },
  ];
  const html = exportHtml(EVIL, follow(EMPTY_THREAD, events), 0.5);

  it("contains only text and no active markup, for any message", () => {
    expect(html.match(/<(script|img|link|iframe|object|form)\b/gi)).toBeNull();
    expect(html.match(/<a\b(?! href="#[a-z0-9-]+">)/gi)).toBeNull();
    expect(html.match(/<style>/g)).toHaveLength(1);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  it("contains all messages, calls, questions and notices", () => {
    const shown = "&lt;/style&gt;&lt;script&gt;alert(1)";
    // Title twice, model, task, item and note, answer, call three times, helper three times, question twice, notice, end.
    expect(html.split(shown).length - 1).toBeGreaterThanOrEqual(15);
    expect(html).toContain("3.0k tokens");
    expect(html).toContain("$0.50");
  });

  it("draws Markdown as the page does, and nothing else that a model wrote is markup", () => {
    const text = `## Changes\n\n**All** of \`a.ts\`, see [it](https://a.example/"x).\n\n| file | lines |\n|---|---|\n| ${EVIL} | 2 |`;
    const page = exportHtml(
      "t",
      follow(EMPTY_THREAD, [{ ...stamp, type: "model-end", owner: "main", text, usage }]),
    );
    expect(page).toContain('<p class="heading heading-2">Changes</p>');
    expect(page).toContain("<p><strong>All</strong> of <code>a.ts</code>, see <a href=");
    expect(page).toContain('href="https://a.example/%22x" target="_blank" rel="noopener noreferrer"');
    expect(page).toContain('<tr><th scope="col">file</th><th scope="col">lines</th></tr>');
    expect(page.match(/<(script|img)\b/gi)).toBeNull();
  });

  it("shows the user's answers, including those from a saved thread", () => {
    const page = exportHtml(
      "t",
      follow(EMPTY_THREAD, [
        {
          ...stamp,
          type: "answer",
          id: "c",
          answer: { type: "reject", by: "Ann", message: "not <b>" },
          question: { kind: "permission", name: "write_file" },
        },
        {
          ...stamp,
          type: "answer",
          id: "d",
          answer: "green",
          question: { kind: "clarification", text: "Which?" },
        },
      ]),
    );
    expect(page).toContain("Ann rejected write_file: not &lt;b&gt;");
    expect(page).toContain("Which?\nYou answered: green");
  });

  it("shows the changed lines of a call, and durations as bars", () => {
    const call = { ...stamp, type: "tool-end", owner: "main", ok: true, result: "Done." } as const;
    const args = { file_path: "/a.ts", old_string: "let a;\nlet b;", new_string: "let a;\nconst b = 1;" };
    const told: StampedEvent[] = [
      { ...stamp, type: "tool-start", owner: "main", call: "e", name: "edit_file", about: "/a.ts", args },
      { ...call, at: 2000, call: "e", name: "edit_file", about: "/a.ts", args },
      { ...call, at: 3000, call: "p", name: "update_todos", about: "", args: { done: "1" } },
    ];
    const page = exportHtml("t", follow(EMPTY_THREAD, told));
    expect(page).toMatch(
      /<tr class="line-removed">.*?let b;<\/td><\/tr><tr class="line-added">.*?const b = 1;/,
    );
    expect(page).toContain("<title>edit_file /a.ts, 2 s</title></rect>");
    expect(page).not.toContain("update_todos");
  });
});
