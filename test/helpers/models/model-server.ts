import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on this machine that speaks the protocols of the providers, says little and keeps what it was sent. */
export interface ModelServer {
  url: string;
  /** The bodies of the requests as they came, with the path they were sent to. */
  requests: { path: string; body: Record<string, unknown> }[];
  stop: () => void;
}

interface Answer {
  status: number;
  body: object | string;
}

/** Starts one. `answer` may say something else than "ok" to a request, with a status; a string is a stream. */
export async function startModelServer(
  answer: (body: Record<string, unknown>) => Answer | Promise<Answer> | undefined = () => undefined,
): Promise<ModelServer> {
  const requests: ModelServer["requests"] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url!;
    const body = JSON.parse(await read(request)) as Record<string, unknown>;
    requests.push({ path, body });
    const other = await answer(body);
    const isStream = typeof other?.body === "string";
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(other?.status ?? 200, { "content-type": type });
    // Ollama's stream ends with its first line here.
    response.end(isStream ? other.body : `${JSON.stringify(other?.body ?? okay(path))}\n`);
  };
  // Closing an idle connection would fail a request that a slow client is just sending.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece as string;
  return text;
}

const USAGE = { input_tokens: 1, output_tokens: 1, prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function okay(path: string): object {
  const text = "ok";
  if (path.endsWith("/chat/completions")) {
    const message = { role: "assistant", content: text };
    return {
      id: "c1",
      object: "chat.completion",
      created: 0,
      model: "m",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: USAGE,
    };
  }
  if (path.endsWith("/responses")) {
    const content = [{ type: "output_text", text, annotations: [] }];
    const output = [{ type: "message", id: "m1", role: "assistant", status: "completed", content }];
    return { id: "r1", object: "response", status: "completed", output, usage: USAGE };
  }
  if (path.endsWith("/v1/messages")) {
    const content = [{ type: "text", text }];
    return { id: "m1", type: "message", role: "assistant", content, stop_reason: "end_turn", usage: USAGE };
  }
  if (path.endsWith("/api/chat")) {
    return { message: { role: "assistant", content: text }, done: true, done_reason: "stop" };
  }
  const content = { role: "model", parts: [{ text }] };
  return { candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata: {} };
}
