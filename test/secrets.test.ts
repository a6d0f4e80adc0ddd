import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inOneProcess } from "./one-process.ts";

// Nothing that looks like a key: it is known because it is set.
const KEY = "open.sesame-mountain~7";

type Answer = (response: ServerResponse, authorization: string) => void;

let home: string;
let server: Server;
let url: string;
let requests: string[];
let script: Answer[];
/** Once there is nothing left in the script. */
let otherwise: Answer;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
  [requests, script, otherwise] = [[], [], refuses];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(await text(request));
    (script.shift() ?? otherwise)(response, request.headers.authorization ?? "");
  };
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

const refuses: Answer = (response, authorization) => {
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: `What do you mean by ${authorization}?` } }));
};

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish }] })}\n\n`;

const streams =
  (...events: string[]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${events.join("")}data: [DONE]\n\n`);
  };
const says = (content: string): Answer => streams(event({ content }), event({}, "stop"));
const calls = (name: string, args: object): Answer =>
  streams(
    event({
      tool_calls: [
        { index: 0, id: "c1", type: "function", function: { name, arguments: JSON.stringify(args) } },
      ],
    }),
    event({}, "tool_calls"),
  );

const breaksOff: Answer = (response, authorization) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(event({ content: "Well, " }));
  response.end(
    `data: ${JSON.stringify({ error: { message: `No more for ${authorization}`, type: "x" } })}\n\n`,
  );
};

/** Processes of their own: keys are known by the variables of a process. */
const holdfast = (...commands: string[][]) =>
  inOneProcess(
    commands.map((args) => ({ args })),
    {
      cwd: home,
      env: {
        PATH: process.env["PATH"]!,
        HOME: home,
        HOLDFAST_STATE: join(home, "threads.db"),
        HOLDFAST_MODEL: "openai-compatible:any",
        HOLDFAST_API_KEY: KEY,
        HOLDFAST_BASE_URL: `${url}/v1`,
      },
    },
  );

/** Every byte that was kept: the file of threads, and what stands beside it. */
const kept = (): string =>
  readdirSync(home)
    .filter((name) => name.startsWith("threads.db"))
    .map((name) => readFileSync(join(home, name), "latin1"))
    .join("");

describe("a key that a server repeats", () => {
  it.each([
    ["in place of an answer", refuses, "What do you mean by"],
    ["in the middle of one", breaksOff, "No more for"],
  ])("%s is nowhere: not in events, not in the file, not on the error stream", async (_, answer, words) => {
    otherwise = answer;
    const ended = await holdfast(
      ...[["--json"], ["--quiet"], []].map((flags) => ["run", ...flags, "Say hello"]),
    );
    expect(ended).toHaveLength(3);
    expect(requests.length).toBeGreaterThanOrEqual(3);
    for (const { out, err } of ended) {
      expect(out + err).toContain(words);
      expect(out + err).not.toContain(KEY);
    }
    expect(kept()).toContain(words);
    expect(kept()).not.toContain(KEY);
  });

  it("in the error of a sub-agent does not go back to the model", async () => {
    const job = { description: "Look around", subagent_type: "general-purpose" };
    script = [calls("task", job), refuses, says("The sub-agent failed.")];
    const [ended] = await holdfast(["run", "--json", "--thread", "delegated", "Delegate it"]);
    expect(requests).toHaveLength(3);
    expect(requests[2]).toContain("What do you mean by");
    expect(requests.join("") + ended!.out + kept()).not.toContain(KEY);
  });
});
