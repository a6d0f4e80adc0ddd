// The process that release/killed-turn.test.ts kills. It ends the thread that the process before it was killed in, and
// begins another, which kills it at a certain point: in front of a write of the saver or an effect on the world, or
// behind one.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDeepAgent } from "holdfast";
import { shellBackend } from "holdfast/files";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";

const [root, place, number] = process.argv.slice(2);
const deadly = Number(number);
let points = 0;
let isArmed = false;

/** A moment at which the process may be killed. */
function point() {
  if (!isArmed) return;
  if (points === deadly) process.kill(process.pid, "SIGKILL");
  points += 1;
}

/** An object whose methods begin and end with a point. */
const withPoints = (target, names) =>
  new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name, object);
      if (typeof value !== "function") return value;
      const bound = value.bind(object);
      if (!names.includes(name)) return bound;
      return async (...args) => {
        point();
        const result = await bound(...args);
        point();
        return result;
      };
    },
  });

/** Changes of two files, commands that note what they find, a read and two plan calls. */
const TURN = [
  callTool("write_file", { file_path: "/a.txt", content: "a\n" }, "c0"),
  callTool("edit_file", { file_path: "/a.txt", old_string: "a", new_string: "a+" }, "c1"),
  callTool("execute", { command: "cat a.txt >> log.txt && cat a.txt" }, "c2"),
  callTool("write_todos", { todos: ["build", "check"] }, "c3"),
  callTool("read_file", { file_path: "/a.txt" }, "c4"),
  callTool("write_file", { file_path: "/b.txt", content: "b\n" }, "c5"),
  callTool("execute", { command: "cat b.txt >> log.txt && cat b.txt" }, "c6"),
  callTool("update_todos", { done: "1" }, "c7"),
];

/** Files on a disk, or in the thread; a command then notes what it finds there outside of the thread. */
function backendOf(folder) {
  if (place === "disk") {
    const backend = shellBackend(folder, { isolation: "never" });
    return withPoints(backend, ["write", "edit", "execute"]);
  }
  return ({ state }) => ({
    ...state,
    execute: async (command) => {
      point();
      const file = await state.read(`/${/^cat (\S+)/.exec(command)[1]}`);
      const output = file.ok ? file.content : file.error;
      appendFileSync(join(folder, "log.txt"), output);
      point();
      return { ok: true, output, exitCode: 0 };
    },
  });
}

const saver = await sqliteSaver(join(root, `${place}.db`));

async function run(at) {
  const folder = join(root, `${place}-${at}`);
  mkdirSync(folder, { recursive: true });
  const config = { configurable: { thread_id: `${place}-${at}` }, durability: "sync" };
  const model = new ScriptedModel(
    [({ messages }) => (messages.some(({ type }) => type === "ai") ? "done" : TURN)],
    { loop: true },
  );
  const agent = createDeepAgent({
    model,
    checkpointer: withPoints(saver, ["put", "putWrites"]),
    backend: backendOf(folder),
    ...(place === "thread" && {
      canExecute: true,
      repeats: { write_file: "harmless", edit_file: "harmless" },
    }),
  });
  const isBegun = (await saver.getTuple(config)) !== undefined;
  const state = await agent.invoke(isBegun ? null : { messages: [{ role: "user", content: "go" }] }, config);
  const read = (name) =>
    place === "thread"
      ? state.files?.[`/${name}`]
      : existsSync(join(folder, name)) && readFileSync(join(folder, name), "utf8");
  const log = join(folder, "log.txt");
  return {
    results: Object.fromEntries(
      state.messages.flatMap(({ type, tool_call_id, text }) =>
        type === "tool" ? [[tool_call_id, text]] : [],
      ),
    ),
    answer: state.messages.at(-1).text,
    files: { "a.txt": read("a.txt"), "b.txt": read("b.txt") },
    log: existsSync(log) ? readFileSync(log, "utf8") : "",
    plan: state.todos.map(({ content, status }) => `${status} ${content}`),
  };
}

const keep = (name, result) => writeFileSync(join(root, `${place}-${name}.json`), JSON.stringify(result));

if (deadly > 0) keep(deadly - 1, await run(deadly - 1));
isArmed = true;
keep("calm", await run(deadly));
saver.close();
process.exit(0);
