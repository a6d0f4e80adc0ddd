// The graphs that both servers run. Plain JavaScript: each loads them in its own way.
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

// One gate for the process, however often a server loads this file.
const gate = (globalThis.holdfastLoadGate ??= { open: undefined, opened: undefined });

const Speech = Annotation.Root({ ...MessagesAnnotation.spec, events: Annotation, held: Annotation });

/** Says so many numbers, one per turn of the event loop, then a message. Half of them wait at the gate where `held` is set. */
export const speaker = new StateGraph(Speech)
  .addNode("speak", async ({ events, held }, { writer }) => {
    for (let n = 0; n < events; n += 1) {
      if (held && n === events / 2) await gate.opened;
      writer?.({ n });
      await setImmediate();
    }
    return { messages: [new AIMessage("I have said my numbers.")] };
  })
  .addNode("close", () => ({ messages: [new AIMessage("That is all.")] }))
  .addEdge(START, "speak")
  .addEdge("speak", "close")
  .addEdge("close", END)
  .compile();

const Control = Annotation.Root({ gate: Annotation, figures: Annotation });

/** Shuts or opens the gate, and says what its process takes after a collection of garbage. */
export const control = new StateGraph(Control)
  .addNode("control", async ({ gate: wanted }) => {
    if (wanted === "shut") gate.opened = new Promise((resolve) => (gate.open = resolve));
    if (wanted === "open") gate.open?.();
    return { figures: await figures() };
  })
  .addEdge(START, "control")
  .addEdge("control", END)
  .compile();

async function figures() {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc");
  for (let time = 0; time < 4; time += 1) {
    collect();
    // Pages are given back to the system in the background.
    await setTimeout(50);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return { rss, used: heapUsed + external, cpuMs: (user + system) / 1000 };
}
