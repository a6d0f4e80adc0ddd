// A worker for the tests of clusters, which they kill, stop and cut off. Its model does what the task says, a JSON of
// `{ turns, gates, fail }`; its tool writes down each beginning and each end, and waits at a gate until that is open.
// SIGUSR2 sets its clock an hour back, and the next one sets it right.
import { createDeepAgent, isRepetition } from "holdfast";
import { createWorker } from "holdfast/server";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool } from "langchain";
import { z } from "zod";
import { pass, pool, write } from "./effects.mjs";
import { speaker } from "./speaker.mjs";

const { DATABASE: database, SLOTS: slots, QUEUES: queues, LIMITS: limits } = process.env;

const RealDate = Date;
let step = 0;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [RealDate.now() + step]));
  }
  static now() {
    return RealDate.now() + step;
  }
};
process.on("SIGUSR2", () => {
  step = step === 0 ? -3_600_000 : 0;
});

const work = tool(
  async ({ gate }, runtime) => {
    const { thread_id: thread } = runtime.configurable;
    await write(thread, runtime.toolCallId, "begin", isRepetition(runtime));
    await pass(gate, runtime.signal);
    await write(thread, runtime.toolCallId, "end", isRepetition(runtime));
    return "worked";
  },
  { name: "work", description: "works", schema: z.object({ n: z.number(), gate: z.string().optional() }) },
);

const model = new ScriptedModel(
  [
    async ({ messages }) => {
      const at = messages.findLastIndex((message) => message.getType() === "human");
      const { turns = 1, gates = {}, fail, pause = 0, id } = JSON.parse(messages[at].text);
      const turn = messages.slice(at).filter((message) => message.getType() === "ai").length;
      if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
      if (fail) {
        const { rowCount } = await pool.query("SELECT 1 FROM effects WHERE call = $1", [`fail-${id}`]);
        if (rowCount < fail.times) {
          await write("", `fail-${id}`, "fail", false);
          throw Object.assign(new Error(fail.message), { status: fail.status });
        }
      }
      if (turn === 0) await pass(gates.model);
      const gate = gates[turn];
      return turn < turns
        ? callTool("work", { n: turn, ...(gate && { gate }) }, `${id}-${turn}`)
        : `done ${id}`;
    },
  ],
  { loop: true },
);

const agent = createDeepAgent({ model, tools: [work], plan: false, repeats: { work: "repeat" } });
const worker = await createWorker({
  database,
  graphs: { agent, speaker: speaker((id, phase) => write("", id, phase, false)) },
  ...(slots && { slots: Number(slots) }),
  ...(queues && { queues: queues.split(",") }),
  ...(limits && { limits: JSON.parse(limits) }),
});
const stop = async () => {
  await worker.close();
  await pool.end();
  process.exit(0);
};
process.on("SIGTERM", () => void stop());
process.on("message", () => process.send(process.cpuUsage()));
console.log(`ready ${worker.id}`);
