// LangGraph's public client, of either major version.
import type { Client } from "@langchain/langgraph-sdk";
import type { Chat, Seen } from "./chat.ts";

export interface ServerEvent {
  event: string;
  data: unknown;
}

/** `client` is `new Client({ apiUrl, apiKey })`. */
export async function connect(client: Client): Promise<Chat> {
  const { thread_id } = await client.threads.create();
  let running = "";
  const run = async (payload: object): Promise<Seen> => {
    const stream = client.runs.stream(thread_id, "tide", {
      ...payload,
      streamMode: ["messages-tuple", "custom", "updates"],
      onRunCreated: ({ run_id }) => {
        running = run_id;
      },
    });
    const events: ServerEvent[] = [];
    for await (const event of stream) events.push(event);
    return seenIn(events);
  };
  return {
    send: (content) => run({ input: { messages: [{ role: "user", content }] } }),
    approve: () => run({ command: { resume: { decisions: [{ type: "approve" }] } } }),
    stop: () => client.runs.cancel(thread_id, running, true),
  };
}

/** The events of a run, put together. */
export function seenIn(events: readonly ServerEvent[]): Seen {
  const seen: Seen = { text: "", results: [] };
  for (const { event, data } of events) {
    if (event === "messages") {
      const [{ type, name, content }] = data as [{ type: string; name: string; content: string }];
      if (type === "ai") seen.text += content;
      if (type === "tool") seen.results.push(name);
    }
    if (event === "custom" && (data as { type: string }).type === "plan-change") {
      const { completed, total } = (data as { counts: { completed: number; total: number } }).counts;
      seen.plan = `${completed}/${total}`;
    }
    const [asked] = (data as { __interrupt__?: Asked[] }).__interrupt__ ?? [];
    if (asked) seen.question = asked.value.actionRequests[0]!.name;
  }
  return seen;
}

interface Asked {
  value: { actionRequests: { name: string }[] };
}
