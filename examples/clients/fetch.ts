// No client at all: requests of the platform, at any address where Holdfast is mounted.
import type { Chat, Seen } from "./chat.ts";
import { seenIn } from "./langgraph-sdk.ts";

export async function connect(url: string, token: string): Promise<Chat> {
  const post = async (path: string, body: object): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const { thread_id } = (await (await post("/threads", {})).json()) as { thread_id: string };
  let running = "";
  const run = async (payload: object): Promise<Seen> => {
    const stream_mode = ["messages-tuple", "custom", "updates"];
    const answer = await post(`/threads/${thread_id}/runs/stream`, {
      assistant_id: "tide",
      stream_mode,
      ...payload,
    });
    running = answer.headers.get("content-location")!;
    return seenIn([...eventsIn(await answer.text())]);
  };
  return {
    send: (content) => run({ input: { messages: [{ role: "user", content }] } }),
    approve: () => run({ command: { resume: { decisions: [{ type: "approve" }] } } }),
    stop: async () => void (await post(`${running}/cancel`, {})),
  };
}

function* eventsIn(text: string): Generator<{ event: string; data: unknown }> {
  for (const [, event, data] of text.matchAll(/^event: (.*)\ndata: (.*)$/gm))
    yield { event: event!, data: JSON.parse(data!) as unknown };
}
