import { expect, it } from "vitest";
import {
  begin,
  send,
  setStage,
  settled,
  start,
  WRITE,
} from "../../../../test/helpers/page/threads-server.ts";
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

it("a new thread has the settings files' mode, and no request may ask less", async () => {
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

it("a new thread may have any mode when settings files name the mode that asks least", async () => {
  await start(["Done."], {}, { projectOf: projectOf("auto") });
  expect(await defaults()).toMatchObject({ mode: "auto" });
  expect(await create("auto")).toMatchObject({ status: 201 });
});
