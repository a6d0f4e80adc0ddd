import { expect, it } from "vitest";
import { begin, setStage, settled, start } from "../../../../test/helpers/page/threads-server.ts";

setStage();

it("a thread with a budget in money runs on the page, at the prices of its model", async () => {
  await start(["Done."], { budget: { cost: 5 } });
  const { thread, events } = await settled(await begin("Go"));
  expect(events.findLast(({ type }) => type === "run-end")).toMatchObject({ outcome: "done" });
  expect(thread.status).toBe("done");
});
