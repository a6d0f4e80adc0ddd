import { expect, it } from "vitest";
import { ask, newDatabase } from "../../postgres/database.ts";

it("is refused by the database", async () => {
  expect(await ask(await newDatabase(), "SELECT 1 AS one")).toEqual([]);
});
