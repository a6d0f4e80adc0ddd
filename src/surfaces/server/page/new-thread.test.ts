import { expect, it } from "vitest";
import { begin, send, setStage, settled, start, WRITE } from "../../../../test/page-stage.ts";
import { type Mode } from "../../../vocabulary.ts";

setStage();

const projectOf = (mode: Mode) => async () => ({
  config: { mode },
  skills: [],
  instructions: async () => "",
  mcp: { mcpServers: {} },
});
const defaults = async (): Promise<unknown> =>
  ((await send("GET", "/info")).body as unknown as { defaults: unknown }).defaults;
const create = (mode: Mode) => send("POST", "/threads", { task: "Go", settings: { mode } });

it("has the mode of settings files, which the page shows and nobody may ask less than", async () => {
  await start([WRITE, "Written."], {}, { projectOf: projectOf("ask") });
  expect(await defaults()).toMatchObject({ mode: "ask" });
  const message = "New threads have mode ask here: edits asks less.";
  expect(await create("edits")).toMatchObject({ status: 422, body: { message } });
  const thread = await begin("Write a file");
  const { questions, settings } = await settled(thread);
  expect(questions).toMatchObject([{ kind: "permission" }]);
  expect(settings.mode).toBe("ask");
  const change = await send("PATCH", `/threads/${thread}/settings`, { mode: "edits" });
  expect(change).toMatchObject({ status: 422, body: { message } });
});

it("may have any mode where settings files name the one that asks least", async () => {
  await start(["Done."], {}, { projectOf: projectOf("auto") });
  expect(await defaults()).toMatchObject({ mode: "auto" });
  expect(await create("auto")).toMatchObject({ status: 201 });
});
