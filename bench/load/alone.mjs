// The same runs as a server's, without a server: node alone.mjs <file of the threads> <runs before> <runs> <at a time> <events of a run>.
// Prints the milliseconds that a run takes of the processor, and how many there are in a second.
import { randomUUID } from "node:crypto";
import { sqliteSaver } from "../../dist/storage/index.js";
import { speaker } from "./graph.mjs";

const [file, warmUp, runs, atOnce, events] = process.argv.slice(2);
speaker.checkpointer = await sqliteSaver(file);

async function speak() {
  const input = { messages: [{ role: "human", content: "Speak." }], events: Number(events) };
  // As a server does it: a step is saved before the next one begins.
  const options = { configurable: { thread_id: randomUUID() }, streamMode: ["custom"], durability: "sync" };
  let said = 0;
  for await (const _ of await speaker.stream(input, options)) said += 1;
  if (said !== Number(events)) throw new Error(`${said} of ${events} events were seen.`);
}

async function speakOften(count) {
  let begun = 0;
  const work = async () => {
    while (begun < count) {
      begun += 1;
      await speak();
    }
  };
  await Promise.all(Array.from({ length: Number(atOnce) }, work));
}

// As many as it takes for the code to be as fast as it gets.
await speakOften(Number(warmUp));
const [before, start] = [process.cpuUsage(), performance.now()];
await speakOften(Number(runs));
const { user, system } = process.cpuUsage(before);
console.log(
  JSON.stringify({
    cpuPerRun: (user + system) / 1000 / Number(runs),
    runsPerSecond: (Number(runs) / (performance.now() - start)) * 1000,
  }),
);
