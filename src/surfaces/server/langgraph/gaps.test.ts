import { FakeListChatModel } from "@langchain/core/utils/testing";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { StreamMode } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";

let served: Served;
let thread: string;
let run: string;

/** More than a log keeps. */
const MANY = 12_000;

/** Says a word, then speaks at length, then says a last word. */
function speaker() {
  const long = new FakeListChatModel({ responses: [`beginning ${"x".repeat(MANY)} end`] });
  const short = new FakeListChatModel({ responses: ["The end."] });
  return new StateGraph(MessagesAnnotation)
    .addNode("count", (_, { writer }) => {
      for (let n = 0; n < 10; n += 1) writer?.({ n });
      return { messages: [{ role: "ai", content: "Counted.", id: "counted" }] };
    })
    .addNode("speak", async ({ messages }) => ({ messages: [await long.invoke(messages)] }))
    .addNode("stop", async ({ messages }) => ({ messages: [await short.invoke(messages)] }))
    .addEdge(START, "count")
    .addEdge("count", "speak")
    .addEdge("speak", "stop")
    .addEdge("stop", END)
    .compile();
}

interface Said {
  id?: string;
  event: string;
  data: { gap?: true; messages?: { content: string }[] };
}

beforeAll(async () => {
  served = await serve({ speaker: speaker() });
  const { client } = served;
  ({ thread_id: thread } = await client.threads.create());
  const input = { messages: [{ type: "human", content: "Speak" }] };
  ({ run_id: run } = await client.runs.create(thread, "speaker", { input }));
  await client.runs.join(thread, run);
});
afterAll(() => served.close());

/** What somebody gets who knows events up to a number. */
async function joined(after: number, streamMode: StreamMode[]): Promise<Said[]> {
  const options = { lastEventId: String(after), streamMode };
  return collected<Said>(served.client.runs.joinStream(thread, run, options));
}

it("a client that missed deleted events is notified, and gets the state at the gap", async () => {
  const [gap, state, ...rest] = await joined(1, ["values", "custom"]);
  expect(gap).toMatchObject({ event: "metadata", data: { gap: true, run_id: expect.any(String) } });
  expect(state!.event).toBe("values");
  expect(state!.data.messages!.map(({ content }) => content)).toEqual(["Speak", "Counted."]);
  expect(rest.map(({ event }) => event)).toEqual(["values", "values"]);
  expect(rest.at(-1)!.data.messages!.at(-1)!.content).toBe("The end.");
});

it("a client without values reads only the gap, and no gap when it missed nothing", async () => {
  const told = await joined(1, ["custom"]);
  expect(told.map(({ event, data }) => [event, data.gap])).toEqual([["metadata", true]]);
  const events = await joined(Number(told[0]!.id), ["values", "custom"]);
  expect(events.map(({ event }) => event)).toEqual(["values", "values"]);
});

it("a message whose beginning is gone is not sent as a whole one", async () => {
  const events = await joined(1, ["messages"]);
  const whole = events
    .filter(({ event }) => event.startsWith("messages/partial"))
    .map(({ data }) => (data as unknown as [{ content: string }])[0].content);
  expect(whole[0]).toBe("T");
  expect(whole.at(-1)).toBe("The end.");
});

interface ThreadSaid {
  method: string;
  gap?: true;
  seq: number;
  params: { namespace: string[]; data: { event?: string; messages?: { content: string }[] } };
}

/** What the newer protocol says to who knows events up to a number, up to the end of the run. */
async function followed(
  of: string,
  since?: number,
  channels = ["lifecycle", "values"],
): Promise<ThreadSaid[]> {
  const response = await fetch(`${served.url}/threads/${of}/stream/events`, {
    method: "POST",
    headers: { "x-api-key": served.token, "content-type": "application/json" },
    body: JSON.stringify({ channels, since }),
  });
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (/"completed"[^\n]*\n/.test(text) || (since === 1 && text.includes("\ndata:"))) break;
  }
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as ThreadSaid);
}

it("in the newer protocol a gap carries its state, with or without a last number", async () => {
  const [{ seq: gone }] = (await followed(thread)) as [ThreadSaid];
  for (const since of [undefined, gone - 1]) {
    const [state, ...rest] = await followed(thread, since);
    expect(state).toMatchObject({ method: "values", gap: true });
    expect(state!.params.data.messages!.map(({ content }) => content)).toEqual(["Speak", "Counted."]);
    expect(rest.filter(({ gap }) => gap)).toEqual([]);
    expect(rest.at(-1)).toMatchObject({ method: "lifecycle", params: { data: { event: "completed" } } });
  }
});

it("a client that does not listen to the state reads the gap with its next event", async () => {
  const said = await followed(thread, undefined, ["lifecycle"]);
  expect(said.map(({ gap }) => gap ?? false)).toEqual([true, ...said.slice(1).map(() => false)]);
});

it("a client with a number of an earlier start gets only the newest state", async () => {
  const [state] = await followed(thread, 1);
  expect(state).toMatchObject({ method: "values", gap: true });
  expect(state!.params.data.messages!.at(-1)!.content).toBe("The end.");
});

it("a client with a number of an earlier start gets the current state of the thread", async () => {
  const { threads } = served.client;
  const { thread_id: other } = await threads.create({ graphId: "speaker" });
  const values = { messages: [{ type: "human", content: "Hello" }] };
  await threads.updateState(other, { values, asNode: "stop" });
  const [state] = await followed(other, 1);
  expect(state).toMatchObject({ method: "values", gap: true });
  expect(state!.params.data.messages!.map(({ content }) => content)).toEqual(["Hello"]);
});
