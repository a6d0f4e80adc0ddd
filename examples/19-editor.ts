// An editor in a few lines: a client of the Agent Client Protocol that starts `holdfast acp`, allows what it asks for,
// and prints the plan as it moves.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "tides.md"), "High tide at noon.");
const main = join(import.meta.dirname, "../dist/surfaces/cli/main.js");
const agent = spawn(process.execPath, [main, "acp", "--state", join(folder, "threads.db")], {
  env: { ...process.env, HOLDFAST_MODEL: "offline", HOLDFAST_PACE: "0" },
  stdio: ["pipe", "pipe", "inherit"],
});

let done = -1;
const editor = client({ name: "example" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    console.log("May it", `${params.toolCall.title}?`, params.options.map(({ name }) => name).join(" / "));
    return { outcome: { outcome: "selected" as const, optionId: params.options[0]!.optionId } };
  })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate !== "plan") return;
    const closed = update.entries.filter(({ status }) => status === "completed").length;
    const now = update.entries.find(({ status }) => status === "in_progress");
    if (closed > done) console.log(`${closed}/${update.entries.length}`, now?.content ?? "done");
    done = closed;
  });

await editor.connectWith(
  ndJsonStream(
    Writable.toWeb(agent.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>,
  ),
  async (holdfast) => {
    const hello = await holdfast.request(methods.agent.initialize, { protocolVersion: 1 });
    console.log(hello.agentInfo?.title, "speaks version", hello.protocolVersion);
    const { sessionId } = await holdfast.request(methods.agent.session.new, {
      cwd: folder,
      mcpServers: [],
    });
    const { stopReason } = await holdfast.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: "Survey this directory" }],
    });
    console.log("It stopped by", stopReason);
  },
);
agent.stdin.end();
await new Promise((resolve) => agent.on("exit", resolve));
await rm(folder, { recursive: true });
