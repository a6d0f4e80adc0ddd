import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inOneProcess, type Ended } from "../helpers/terminal/shared-process.ts";

// Nothing that looks like a key: it is known because it is set.
const KEY = "open.sesame-mountain~7";

type Answer = (response: ServerResponse, authorization: string) => void;

let home: string;
let server: Server;
let url: string;
/** What each of the servers was sent, by the beginning of its paths. */
const requests: Record<string, string[]> = {};
const ended: Record<string, Ended[]> = {};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = request.url!.split("/")[1]!;
    const sent = (requests[name] ??= []);
    sent.push(await text(request));
    const answers = SERVERS[name]!;
    answers[Math.min(sent.length, answers.length) - 1]!(response, request.headers.authorization ?? "");
  };
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await runAll();
});
afterAll(async () => {
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

/** What servers answer, one after another; the last of it to all that follows. */
const SERVERS: Readonly<Record<string, Answer[]>> = {
  refuses: [refuses],
  "breaks-off": [breaksOff],
  "refuses-another": [
    calls("task", { description: "Look around", subagent_type: "general-purpose" }),
    refuses,
    says("The sub-agent failed."),
  ],
};

/** Runs all commands, in a process that is not this one: keys are known by the variables of a process. */
async function runAll(): Promise<void> {
  const tasks = [["--json"], ["--quiet"], []].map((flags) => [...flags, "Say hello"]);
  const commands = [
    ...["refuses", "breaks-off"].flatMap((name) => tasks.map((args) => ({ name, args }))),
    { name: "refuses-another", args: ["--json", "--thread", "delegated", "Delegate it"] },
  ];
  const all = await inOneProcess(
    commands.map(({ name, args }) => ({
      args: ["run", ...args],
      env: { HOLDFAST_STATE: join(home, `${name}.db`), HOLDFAST_BASE_URL: `${url}/${name}/v1` },
    })),
    {
      cwd: home,
      env: {
        PATH: process.env["PATH"]!,
        HOME: home,
        HOLDFAST_MODEL: "openai-compatible:any",
        HOLDFAST_API_KEY: KEY,
      },
    },
  );
  for (const [at, { name }] of commands.entries()) (ended[name] ??= []).push(all[at]!);
}

/** Every byte that was kept: the file of threads, and what stands beside it. */
const kept = (name: string): string =>
  readdirSync(home)
    .filter((file) => file.startsWith(`${name}.db`))
    .map((file) => readFileSync(join(home, file), "latin1"))
    .join("");

describe("a key that a server repeats", () => {
  it.each([
    ["in place of an answer", "refuses", "What do you mean by"],
    ["in the middle of one", "breaks-off", "No more for"],
  ])("%s is nowhere: not in events, not in the file, not on the error stream", (_, name, words) => {
    expect(ended[name]).toHaveLength(3);
    expect(requests[name]!.length).toBeGreaterThanOrEqual(3);
    for (const { out, err } of ended[name]!) {
      expect(out + err).toContain(words);
      expect(out + err).not.toContain(KEY);
    }
    expect(kept(name)).toContain(words);
    expect(kept(name)).not.toContain(KEY);
  });

  it("in the error of a sub-agent does not go back to the model", () => {
    const name = "refuses-another";
    const [{ out }] = ended[name] as [Ended];
    expect(requests[name]).toHaveLength(3);
    expect(requests[name]![2]).toContain("What do you mean by");
    expect(requests[name]!.join("") + out + kept(name)).not.toContain(KEY);
  });
});
