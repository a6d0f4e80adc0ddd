import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Todo } from "../../src/plan/index.ts";
import { callTool, type ModelRequestRecord, type Step } from "../../src/testing/index.ts";

type Reply = string | ReturnType<typeof callTool>;
/** Answers one call of the model, from the texts of the messages in it. */
export type ModelTurn = (texts: readonly string[]) => Promise<Reply>;

/** A surface where a person edits the plan of one thread that a scripted model works on. */
export interface PlanSurface {
  /** Runs the thread to the end of a task. */
  run: (turn: ModelTurn) => Promise<unknown>;
  plan: () => Promise<readonly Todo[]>;
  /** Settles when the edit is made or refused; an error has the `code`, and `todos` where the plan has moved on. */
  edit: (todos: readonly unknown[], base: readonly Todo[]) => Promise<readonly Todo[]>;
  /** Plan changes by a person that watchers were told of. */
  told?: () => Promise<number> | number;
  /** An error also has both versions of each item in conflict. */
  hasConflicts?: boolean;
}

/** A turn as a step of a `ScriptedModel`. */
export const stepOf =
  (turn: ModelTurn): Step =>
  ({ messages }: ModelRequestRecord) =>
    turn(messages.map(({ text }) => text));

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });
const STOPS = ["Later.", "Later.", "Later."];
const done = (ids: string) => callTool("update_todos", { done: ids, note: "by hand" });
/** A step that changes nothing, and is no repetition of another. */
const look = () => callTool("ls", { path: `/${crypto.randomUUID()}` });
const lines = (todos: readonly Todo[]): string[] =>
  todos.map(({ id, content, status }) => `${id} ${content} ${status}`);

/** Plays a script, and keeps what the model was sent. A step that returns nothing is tried again a moment later. */
function player(...steps: (Reply | ((texts: readonly string[]) => Promise<Reply | undefined>))[]) {
  const calls: (readonly string[])[] = [];
  const turn: ModelTurn = async (texts) => {
    calls.push(texts);
    const [step = "ok"] = steps;
    const reply = typeof step === "function" ? await step(texts) : step;
    if (reply === undefined) await sleep(20);
    else steps.shift();
    return reply ?? look();
  };
  return { turn, calls };
}

/** The behaviour of a person's edit, for every surface that takes one. */
export function planEditContract(open: () => Promise<PlanSurface> | PlanSurface): void {
  it("an edit during a step is made before the next step, and the model reads it once", async () => {
    const surface = await open();
    const news = 'The user changed your plan: 2 has content "Plant tulips"; added 3 "Water" (pending).';
    let edit: Promise<readonly Todo[]> | undefined;
    const { turn, calls } = player(
      PLAN,
      async () => {
        const base = await surface.plan();
        const [dig, plant] = base;
        edit = surface.edit([dig, { ...plant, content: "Plant tulips" }, "Water"], base);
        return look();
      },
      async (texts) => (texts.some((text) => text.includes(news)) ? done("1,2,3") : undefined),
      "Grown.",
    );
    await surface.run(turn);
    expect(lines(await edit!)).toEqual(["1 Dig in_progress", "2 Plant tulips pending", "3 Water pending"]);
    expect(lines(await surface.plan())).toEqual([
      "1 Dig completed",
      "2 Plant tulips completed",
      "3 Water completed",
    ]);
    const heard = calls.filter((texts) => texts.some((text) => text.includes(news)));
    expect(heard).toHaveLength(1);
    expect(heard[0]!.at(-1)).toContain(news);
    expect((await surface.told?.()) ?? 1).toBe(1);
  });

  it("an invalid or conflicting edit is refused, and the run continues", async () => {
    const surface = await open();
    let base: readonly Todo[] = [];
    let refused: unknown[] = [];
    const edits: unknown[][] = [];
    const { turn } = player(
      PLAN,
      async () => {
        base = await surface.plan();
        const [dig, plant] = base;
        edits.push([{ content: "" }], [dig, plant, { content: "Weed", dependsOn: ["9"] }]);
        edits.push([{ ...dig, status: "half" }], [{ ...dig, content: "Dig deep" }, plant]);
        return done("1");
      },
      async () => {
        void Promise.all(
          edits.map((todos) => surface.edit(todos, base).catch((error: unknown) => error)),
        ).then((errors) => (refused = errors));
        return look();
      },
      async () => (refused.length > 0 ? done("2") : undefined),
      "Grown.",
    );
    await surface.run(turn);
    const wrong = { code: "invalid-plan" };
    const conflicts = [{ id: "1", mine: { content: "Dig deep" }, theirs: { status: "completed" } }];
    const todos = [{ status: "completed" }, { status: "in_progress" }];
    expect(refused).toMatchObject([
      wrong,
      wrong,
      wrong,
      { code: "plan-conflict", todos, ...(surface.hasConflicts && { conflicts }) },
    ]);
    expect(lines(await surface.plan())).toEqual(["1 Dig completed", "2 Plant completed"]);
    expect((await surface.told?.()) ?? 0).toBe(0);
  });

  it("an edit between runs is made at once, merges an older plan, and is read later", async () => {
    const surface = await open();
    await surface.run(player(PLAN, ...STOPS).turn);
    const base = await surface.plan();
    const [dig, plant] = base;
    await surface.run(player(done("1"), ...STOPS).turn);
    const merged = await surface.edit([dig, { ...plant, content: "Plant tulips" }], base);
    expect(lines(merged)).toEqual(["1 Dig completed", "2 Plant tulips in_progress"]);
    await expect(surface.edit([{ ...dig, content: "Dig deep" }, plant], base)).rejects.toMatchObject({
      code: "plan-conflict",
      todos: [{ status: "completed" }, { content: "Plant tulips" }],
    });
    expect(lines(await surface.plan())).toEqual(lines(merged));
    const { turn, calls } = player(done("2"), "Grown.");
    await surface.run(turn);
    expect(calls[0]!.join("\n")).toContain("Plant tulips");
  });
}
