import { expect, it } from "vitest";
import { z } from "zod";
import { RUN_EVENT } from "./events.ts";

// A change here is one for every program that reads events. Run with -u to publish it; a field that goes, or changes
// its meaning, needs a new version.
it("the published schema matches the schema of the events", async () => {
  const schema = {
    $id: "run-events.v1.json",
    title: "Holdfast run events",
    description: "One line of `holdfast run --json`.",
    ...z.toJSONSchema(RUN_EVENT, { io: "input" }),
  };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    "../../../schemas/run-events.v1.json",
  );
});
