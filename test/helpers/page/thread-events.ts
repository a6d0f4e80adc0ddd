import type { Todo } from "../../../src/plan/index.ts";
import { countTodos } from "../../../src/plan/index.ts";
import type { RunEventBody } from "../../../src/threads/events/events.ts";
import type { StampedEvent, Thread } from "../../../web/src/client/contract.ts";
import type { ThreadEvents } from "./stand-in.ts";

export const THREAD = "brave-otter";
/** A minute ago: what goes on has just begun. */
export const START = Date.now() - 60_000;

/** Events of a thread, written down with the seconds at which they happen. */
export function story(thread = THREAD) {
  const events: StampedEvent[] = [];
  const at = (seconds: number, body: RunEventBody): StampedEvent => {
    const event = { version: 1, thread, at: START + seconds * 1000, ...body } as StampedEvent;
    events.push(event);
    return event;
  };
  return { at, events };
}

export function todo(
  id: string,
  content: string,
  status: Todo["status"] = "pending",
  more: Partial<Todo> = {},
): Todo {
  return { id, content, status, ...more };
}

export function planChange(
  todos: Todo[],
  more: Partial<Extract<RunEventBody, { type: "plan-change" }>> = {},
) {
  const counts = countTodos(todos);
  return {
    type: "plan-change" as const,
    owner: "main",
    by: "model" as const,
    changes: [],
    counts,
    todos,
    ...more,
  };
}

export function threadOf(more: Partial<Thread> = {}): Thread {
  return {
    id: THREAD,
    title: "Move the settings page to the new form library",
    createdAt: START,
    updatedAt: START + 90_000,
    todos: { done: 2, total: 5 },
    status: "running",
    dir: "/home/u/project",
    ...more,
  };
}

const HELPER = "main/researcher:call_9";

const ACTUALS = { startedAt: START, modelCalls: 3, toolCalls: 4 };

const FIRST: Todo[] = [
  todo("1", "Read how the settings page builds its forms", "in_progress"),
  todo("2", "List every field with its validation"),
  todo("3", "Find out how the library does async checks", "pending", { priority: "high" }),
  todo("4", "Rewrite the page", "pending", { dependsOn: ["2", "3"], estimate: 20 }),
  todo("5", "Run the tests", "pending", { dependsOn: ["4"] }),
];

/** The plan of the busy thread, as it is now. */
export const BUSY_PLAN: Todo[] = [
  todo("1", FIRST[0]!.content, "completed", {
    actuals: { ...ACTUALS, elapsedMs: 21_000, inputTokens: 8200, outputTokens: 640 },
  }),
  todo("2", FIRST[1]!.content, "completed", {
    actuals: { ...ACTUALS, elapsedMs: 14_000, inputTokens: 5100, outputTokens: 410 },
  }),
  todo("3", FIRST[2]!.content, "in_progress", { priority: "high" }),
  ...FIRST.slice(3),
];

/** The thread, with a request before it whose plan is done. */
export function withEarlierPlan(told: ThreadEvents): ThreadEvents {
  const { at, events } = story();
  const task = "Find out why the settings page is slow";
  at(-90, { type: "run-start", model: "claude-sonnet-5", resumed: false, task });
  at(-80, planChange([todo("100", "Measure how long each request takes", "completed")]));
  const usage = { inputTokens: 1200, outputTokens: 80, cachedTokens: 0 };
  at(-75, { type: "model-end", owner: "main", text: "It is the nine fields.", usage });
  at(-70, {
    type: "run-end",
    outcome: "done",
    exitCode: 0,
    usage,
    counts: countTodos([todo("100", "", "completed")]),
  });
  const isPlan = ({ type }: StampedEvent): boolean => type === "plan-change";
  const next = told.events.findIndex(isPlan);
  const later = told.events.map((event, index) =>
    index === next && event.type === "plan-change"
      ? { ...event, changes: [{ type: "plan-reset" }, ...event.changes] }
      : event,
  ) as StampedEvent[];
  return { ...told, events: [...events, ...later] };
}

/** A run in the middle of its work: two items done, one with a helper, a file changed. */
export function busyThread(): ThreadEvents {
  const { at, events } = story();
  const usage = { inputTokens: 5200, outputTokens: 340, cachedTokens: 3000 };
  at(0, {
    type: "run-start",
    model: "claude-sonnet-5",
    resumed: false,
    dir: "/home/u/project",
    task: "Move the settings page to the new form library. Keep every validation rule.",
  });
  at(2, { type: "model-end", owner: "main", text: "I will first read how the page works today.", usage });
  at(
    3,
    planChange(FIRST, { changes: FIRST.map((item, index) => ({ type: "todo-add", todo: item, index })) }),
  );
  at(4, { type: "tool-start", owner: "main", call: "c1", name: "glob", about: "src/settings/**" });
  at(5, {
    type: "tool-end",
    owner: "main",
    call: "c1",
    name: "glob",
    about: "src/settings/**",
    ok: true,
    result: "6 files",
    output: "src/settings/page.tsx\nsrc/settings/fields.ts",
  });
  at(6, { type: "tool-start", owner: "main", call: "c2", name: "read_file", about: "src/settings/page.tsx" });
  at(12, {
    type: "tool-end",
    owner: "main",
    call: "c2",
    name: "read_file",
    about: "src/settings/page.tsx",
    ok: true,
    result: "182 lines",
    output: "import { Form } from './form';",
  });
  at(
    21,
    planChange([{ ...BUSY_PLAN[0]! }, { ...FIRST[1]!, status: "in_progress" }, ...FIRST.slice(2)], {
      changes: [
        { type: "todo-status", id: "1", from: "in_progress", to: "completed" },
        { type: "todo-status", id: "2", from: "pending", to: "in_progress" },
      ],
    }),
  );
  at(22, {
    type: "model-end",
    owner: "main",
    usage,
    text: "The page has **nine fields** in three groups. `email` and `slug` are checked on the server:\n\n1. `email` must be free\n2. `slug` must be free *and* lower case\n\n| field | rule |\n|---|---|\n| email | unique |\n| slug | unique, `[a-z-]+` |",
  });
  at(24, {
    type: "tool-start",
    owner: "main",
    call: "c3",
    name: "edit_file",
    about: "docs/fields.md",
    args: {
      file_path: "docs/fields.md",
      old_string: "# Fields\n",
      new_string: "# Fields\n\nNine, in three groups.\n",
    },
  });
  at(25, {
    type: "tool-end",
    owner: "main",
    call: "c3",
    name: "edit_file",
    about: "docs/fields.md",
    ok: true,
    result: "Edited",
    args: {
      file_path: "docs/fields.md",
      old_string: "# Fields\n",
      new_string: "# Fields\n\nNine, in three groups.\n",
    },
  });
  at(26, { type: "tool-start", owner: "main", call: "c4", name: "execute", about: "npm test -- settings" });
  at(34, {
    type: "tool-end",
    owner: "main",
    call: "c4",
    name: "execute",
    about: "npm test -- settings",
    ok: false,
    exitCode: 1,
    result: "1 failed",
    output: "FAIL src/settings/page.test.tsx\n1 failed, 11 passed",
  });
  at(
    36,
    planChange(BUSY_PLAN, {
      changes: [
        { type: "todo-status", id: "2", from: "in_progress", to: "completed" },
        { type: "todo-status", id: "3", from: "pending", to: "in_progress" },
      ],
    }),
  );
  at(37, { type: "tool-start", owner: "main", call: "call_9", name: "task", about: "researcher" });
  at(37, {
    type: "subagent-start",
    owner: HELPER,
    name: "researcher",
    description:
      "Find out how the form library runs asynchronous checks, and whether it waits for them before it submits.",
    todoId: "3",
  });
  const own = [
    todo("1", "Read the documentation", "completed"),
    todo("2", "Try it in a small form", "in_progress"),
    todo("3", "Report"),
  ];
  at(40, planChange(own, { owner: HELPER }));
  at(41, { type: "tool-start", owner: HELPER, call: "h1", name: "grep", about: "asyncValidate" });
  at(46, {
    type: "tool-end",
    owner: HELPER,
    call: "h1",
    name: "grep",
    about: "asyncValidate",
    ok: true,
    result: "4 hits",
  });
  at(48, { type: "model-end", owner: HELPER, text: "The documentation names `asyncValidate`.", usage });
  at(49, {
    type: "tool-start",
    owner: HELPER,
    call: "h2",
    name: "read_file",
    about: "node_modules/forms/README.md",
  });
  return {
    thread: threadOf(),
    events,
    files: [
      {
        path: "docs/fields.md",
        before: "# Fields\n\nTo be written.\n",
        after: "# Fields\n\nNine, in three groups.\nTwo of them are checked on the server.\n",
        isKnown: true,
      },
    ],
    checkpoints: [3, 5, 12, 21, 25, 34, 36].map((seconds, step) => ({
      id: `check-${step}`,
      at: START + seconds * 1000,
      step,
      source: "loop",
      todos: { done: seconds >= 36 ? 2 : seconds >= 21 ? 1 : 0, total: 5 },
    })),
  };
}

/** A thread whose only run failed. */
export function failedThread(): ThreadEvents {
  const { at, events } = story();
  at(0, { type: "run-start", model: "m", resumed: false, task: "Go" });
  at(1, {
    type: "run-end",
    outcome: "failed",
    error: "The model refused the key.",
    exitCode: 1,
    counts: countTodos([]),
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  });
  return { thread: threadOf({ status: "failed" }), events };
}
