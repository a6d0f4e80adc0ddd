import { randomUUID } from "node:crypto";
import type { LoadedServer } from "./servers.ts";

/** What a process takes, as it says itself. */
export interface Figures {
  /** What the system has given it. */
  rss: number;
  /** What is in use: its heap, and what the heap refers to outside of it. */
  used: number;
  cpuMs: number;
}

/** What was seen of a run. */
export interface SeenRun {
  /** Milliseconds until the first number. */
  first: number;
  numbers: number[];
}

/** Runs the speaker on a new thread and reads it to its end. Throws for a run that fails. */
export async function speak(
  server: LoadedServer,
  { events, held = false, onHalf }: { events: number; held?: boolean; onHalf?: () => void },
): Promise<SeenRun> {
  const start = performance.now();
  const response = await post(server, `/threads/${randomUUID()}/runs/stream`, {
    assistant_id: "speaker",
    if_not_exists: "create",
    stream_mode: ["custom"],
    input: { messages: [{ role: "human", content: "Speak." }], events, held },
  });
  const seen: SeenRun = { first: 0, numbers: [] };
  for await (const { event, data } of eventsOf(response)) {
    if (event === "error") throw new Error(`${server.name}: ${data}`);
    if (event !== "custom") continue;
    if (seen.numbers.length === 0) seen.first = performance.now() - start;
    seen.numbers.push((JSON.parse(data) as { n: number }).n);
    if (seen.numbers.length === events / 2) onHalf?.();
  }
  const isWhole = seen.numbers.length === events && seen.numbers.every((n, at) => n === at);
  if (!isWhole) throw new Error(`${server.name} lost or reordered events: ${seen.numbers.join()}`);
  return seen;
}

/** Shuts or opens the gate of a server's process, and asks what it takes. */
export async function control(server: LoadedServer, gate?: "shut" | "open"): Promise<Figures> {
  const response = await post(server, "/runs/wait", { assistant_id: "control", input: { gate: gate ?? "" } });
  return ((await response.json()) as { figures: Figures }).figures;
}

async function post({ name, url, token }: LoadedServer, path: string, body: object): Promise<Response> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
  return response;
}

async function* eventsOf({ body }: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = "";
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).replaceAll("\r", "").split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, "m").exec(part)?.[1] ?? "";
      yield { event: field("event"), data: field("data") };
    }
  }
}
