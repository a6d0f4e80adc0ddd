import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { asOfficiallyRead, SIGNALS } from "./otlp.ts";

export interface Posted {
  url: string;
  type: string;
  key: string;
  /** As it came, and as OpenTelemetry's own types read it, written and read once more in its binary form. */
  body: unknown;
  officially: unknown;
}

/** A collector of OpenTelemetry that keeps what it is sent. */
export class Collector {
  answer: "at once" | "never" | "an error" = "at once";
  requests: Posted[] = [];
  readonly #server: Server = createServer(
    // Closing an idle connection would fail a request that a slow client is just sending.
    { keepAliveTimeout: 0 },
    (request, response) => void this.#receive(request, response),
  );

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { "content-type": type = "", "x-key": key = "" } = request.headers;
    const { url = "" } = request;
    const json = await text(request);
    const signal = SIGNALS.find((one) => url.endsWith(one)) ?? "traces";
    const officially = asOfficiallyRead(signal, json);
    this.requests.push({ url, type, key: String(key), body: JSON.parse(json), officially });
    if (this.answer === "at once") response.end("{}");
    if (this.answer === "an error") response.writeHead(503).end();
  }
}
