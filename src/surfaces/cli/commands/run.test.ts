import { expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import type { Terminal } from "../terminal.ts";
import { settingsFrom } from "./run.ts";

const terminal = { cwd: "/" } as Terminal;
const thread = {
  ...DEFAULT_SETTINGS,
  model: "openai:x",
  mode: "ask" as const,
  maxTurns: 7,
  budget: { tokens: 1000 },
};

it("a thread keeps its model, mode, turn limit and budget until a flag changes them", async () => {
  expect(await settingsFrom({}, terminal, thread)).toMatchObject(thread);
  const flags = { model: "openai:y", mode: "edits" as const, maxTurns: 9, budget: "tokens=5" };
  const changed = { model: "openai:y", mode: "edits", maxTurns: 9, budget: { tokens: 5 } };
  expect(await settingsFrom(flags, terminal, thread)).toMatchObject(changed);
  expect((await settingsFrom({ budget: "none" }, terminal, thread)).budget).toEqual({});
});
