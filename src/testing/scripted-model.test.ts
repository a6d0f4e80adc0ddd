import { expect, it } from "vitest";
import { ScriptedModel } from "./scripted-model.ts";

it("a script that is too short reports the last request", async () => {
  const model = new ScriptedModel(["Hello."]);
  await model.invoke("Hi.");
  await expect(model.invoke("Not finished: one item is open.")).rejects.toThrow(
    "The script has 1 steps; this is request 2. It ends with: Not finished: one item is open.",
  );
});
