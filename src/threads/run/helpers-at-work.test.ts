import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { localHost } from "../host/threads-graph.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";

it("items of working sub-agents are in progress in the plan, thread list and events", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-at-work-"));
  const file = join(folder, "threads.db");
  const [saver, other] = [await sqliteSaver(file), await sqliteSaver(file)];
  try {
    const todos = ["one", "two", "report"];
    const task = (id: string) =>
      callTool("task", { description: `Do ${id}`, subagent_type: "reader", todo_id: id });
    const views: unknown[] = [];
    let arrived = 0;
    let meet = (): void => {};
    const together = new Promise<void>((resolve) => (meet = resolve));
    /** Both helpers are at work when their thread is looked at. */
    const look: Step = async () => {
      if ((arrived += 1) === 2) {
        const elsewhere = await watcher.thread("t").plan();
        const [summary] = await other.listThreads();
        views.push([elsewhere.todos.map(({ status }) => status), summary?.todos]);
        meet();
      }
      await together;
      return "Done.";
    };
    /** A person's edit meets the step that starts the helpers. */
    const edit: Step = async () => {
      const { todos: base } = await watcher.thread("t").plan();
      const renamed = base.map((todo) => (todo.id === "3" ? { ...todo, content: "report twice" } : todo));
      edited = host.thread("t").editPlan({ base, todos: renamed });
      return [task("1"), task("2")];
    };
    let edited: Promise<unknown> | undefined;
    const model = new ScriptedModel([callTool("write_todos", { todos }), edit, look, look, "Done."]);
    const options = { defaults: { ...DEFAULT_SETTINGS, model: "scripted" } };
    const modelOf = async () => ({ model, name: "scripted", source: "option", isFallback: false }) as const;
    const host = localHost({ ...options, saver, modelOf });
    const watcher = localHost({ ...options, saver: other, modelOf });
    const run = await host.thread("t").start("Go");
    const shown: string[][] = [];
    const edits: unknown[] = [];
    for await (const event of run.events()) {
      if (event.type === "plan-change") shown.push(event.todos.map(({ status }) => status));
      if (event.type === "plan-change" && event.by === "person") edits.push(event.changes);
    }
    await edited;
    // A person's edit is that alone, and not what helpers had begun.
    expect(edits).toEqual([[{ type: "todo-edit", id: "3", set: { content: "report twice" } }]]);
    expect(shown).toContainEqual(["in_progress", "in_progress", "pending"]);
    expect(views).toEqual([[["in_progress", "in_progress", "pending"], { done: 0, total: 3 }]]);
    await Promise.all([host.stop(), watcher.stop()]);
  } finally {
    saver.close();
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
