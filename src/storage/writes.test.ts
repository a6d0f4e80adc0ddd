import { emptyCheckpoint, ERROR } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { STORES } from "../../test/helpers/postgres/stores.ts";

describe.each(STORES)("in $name,", ({ create }) => {
  it("the store keeps a task's first write, also in a race, but replaces an error", async () => {
    const place = await create();
    const savers = await Promise.all([place.open(), place.open()]);
    const [ours, theirs] = savers;
    const metadata = { source: "loop", step: 0, parents: {} } as const;
    const config = await ours.put({ configurable: { thread_id: "t" } }, emptyCheckpoint(), metadata, {});
    await ours.putWrites(config, [["answer", "first"]], "task");
    const again = Array.from({ length: 8 }, (_, n) => {
      const saver = savers[n % 2]!;
      return saver.putWrites(
        config,
        [
          ["answer", n],
          ["more", "same"],
          [ERROR, `error ${n}`],
        ],
        "task",
      );
    });
    await Promise.all(again);
    await theirs.putWrites(config, [[ERROR, "the last"]], "task");

    const { pendingWrites = [] } = (await theirs.getTuple(config))!;
    expect(pendingWrites.toSorted(([, a], [, b]) => (a < b ? -1 : 1))).toEqual([
      ["task", ERROR, "the last"],
      ["task", "answer", "first"],
      ["task", "more", "same"],
    ]);
    await Promise.all([ours.close(), theirs.close()]);
    place.remove();
  });
});
