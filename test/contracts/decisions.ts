import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, type ModelRequestRecord, type Step } from "../../src/testing/index.ts";
import type { HostThread } from "../../src/threads/host/client.ts";
import { replay } from "../../src/threads/record/replay.ts";
import { isRelease } from "../helpers/runner/rounds.ts";
import { textOf } from "./questions.ts";

/** A host in mode `ask` with one thread. */
export interface DecisionStage {
  dir: string;
  thread: HostThread;
  /** The same thread in another process. */
  elsewhere: () => Promise<HostThread> | HostThread;
  requests: () => readonly ModelRequestRecord[];
}

/** Opens a stage whose model answers by these steps. */
export type OpenStage = (steps: Step[]) => Promise<DecisionStage>;

const write = (name: string) => callTool("write_file", { file_path: `/${name}`, content: "new" }, name);
const BOTH = [write("a.txt"), write("b.txt")];
const REFUSED = "The user does not allow this write_file call";

/** A person's decisions about two calls of one turn, and what must come of them. */
const DECISIONS = {
  yes: { first: { type: "approve" }, told: [] },
  "yes, by name": { first: { type: "approve", by: "ann" }, told: [] },
  no: { first: { type: "reject" }, told: [REFUSED] },
  reason: { first: { type: "reject", message: "keep it" }, told: [`${REFUSED}: keep it`] },
  // The yes for good to another call is a rule that would allow the first one, too.
  always: {
    first: { type: "reject", message: "keep it" },
    isAllowed: true,
    told: [`${REFUSED}: keep it`],
  },
} as const;

const YES = { type: "approve" };
const FILES = ["a.txt", "b.txt"];
const filesIn = (dir: string): string[] => FILES.filter((name) => existsSync(join(dir, name)));

const CALLERS: Record<string, Step[]> = {
  "the agent": [BOTH, "Done so."],
  "a sub-agent": [
    callTool("task", { description: "Write", subagent_type: "general-purpose" }, "job"),
    BOTH,
    "Written so.",
    "Done so.",
  ],
};

/** Another process has nothing of the question but what is stored. */
const PLACES = ["in another process", ...(isRelease ? ["in the same process"] : [])];

/** A table of decisions, callers and the process that continues, for every host. */
export function decisionContract(stage: OpenStage): void {
  describe.each(Object.entries(CALLERS))("two calls of %s", (caller, steps) => {
    describe.each(PLACES)("answered %s", (where) => {
      it.each(Object.entries(DECISIONS))("keep the decision %s on the first call", async (_name, row) => {
        const { dir, thread, elsewhere, requests } = await stage([...steps]);
        await (
          await thread.start("Write")
        ).done;
        const then = where === "in another process" ? await elsewhere() : thread;
        if ("isAllowed" in row) await then.changeSettings({ mode: "auto" });
        const open = await then.questions();
        expect(open.map(({ call }) => call!.call)).toEqual(FILES);
        expect(filesIn(dir)).toEqual([]);
        const answers = new Map<string, object>([
          ["a.txt", row.first],
          ["b.txt", YES],
        ]);
        const given = open.map(({ id, call }) => [id, answers.get(call!.call)] as const);
        await (
          await then.answer(Object.fromEntries(given))
        ).done;
        expect(filesIn(dir)).toEqual(row.told.length === 0 ? FILES : ["b.txt"]);
        const heard = requests().map(textOf).join("\n");
        for (const words of row.told) expect(heard).toContain(words);
        expect(heard.includes(REFUSED)).toBe(row.told.length > 0);
        // The record is in the thread, by call, with who decided and their words.
        const record = (await replay(await then.read())).flatMap((event) =>
          event.type === "answer" ? [[event.id, event.answer]] : [],
        );
        expect(Object.fromEntries(record)).toEqual(Object.fromEntries(answers));
      });

      it("do not run after a message instead of answers, and only started work is noted", async () => {
        const { dir, thread, elsewhere, requests } = await stage([...steps.slice(0, -1), "Else."]);
        await (
          await thread.start("Write")
        ).done;
        const then = where === "in another process" ? await elsewhere() : thread;
        await (
          await then.start("Something else")
        ).done;
        expect(filesIn(dir)).toEqual([]);
        const heard = textOf(requests().at(-1)!);
        expect(heard).toContain("Something else");
        // A sub-agent was begun, and may have done something before it asked.
        const isBegun = caller === "a sub-agent";
        expect(heard).toContain(isBegun ? "Not finished: " : "Not run: ");
        expect(heard.includes("may have had some of its effect")).toBe(isBegun);
      });

      it("are asked about again when the run continues without answers", async () => {
        const { dir, thread, elsewhere, requests } = await stage([...steps]);
        await (
          await thread.start("Write")
        ).done;
        const then = where === "in another process" ? await elsewhere() : thread;
        const open = (await then.questions()).map(({ call }) => call!.call);
        expect(open).not.toEqual([]);
        const calls = requests().length;
        await (
          await then.start(null)
        ).done;
        const asked = (await then.questions()).map(({ call }) => call!.call);
        expect(asked).toEqual(open);
        expect(requests()).toHaveLength(calls);
        expect(filesIn(dir)).toEqual([]);
      });
    });
  });
}
