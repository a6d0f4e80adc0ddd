import { expect, it } from "vitest";
import { z } from "zod";
import { CONFIG } from "./config.ts";

// Run with -u to publish a change.
it("the published schema matches the schema of settings files", async () => {
  const schema = {
    $id: "config.v1.json",
    title: "Holdfast settings",
    description: "`.holdfast/config.json` of a project, and `config.json` of a user.",
    ...z.toJSONSchema(CONFIG, { io: "input" }),
  };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot("../../schemas/config.v1.json");
});
