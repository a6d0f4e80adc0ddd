import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it, vi } from "vitest";
import { held, sessionStages } from "../../../../test/helpers/terminal/session.ts";
import { callTool } from "../../../testing/index.ts";

const ENTER = "\r";
const IDLE = /^> what shall be done/m;
const SERVER = join(process.cwd(), "test/helpers/mcp/hostile-server.mjs");

/** A folder of programs outside of the project: Holdfast starts none in the project. */
function folderWith(name: string, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-programs-"));
  writeFileSync(join(folder, name), script, { mode: 0o755 });
  return folder;
}

const stages = sessionStages();

describe("a session has the features of a run", () => {
  it("MCP servers: calls show arguments, can be allowed by tool, and appear in /tools", async () => {
    const server = (how: string) => ({ command: process.execPath, args: [SERVER, how] });
    const mcp = { mcpServers: { h: server(""), broken: server("broken") } };
    const call = callTool("mcp__h__forged", { text: "one\ntwo", size: 3 });
    const stage = await stages.open([call, call, "Done so."], { project: { mcp } });
    stage.type(`go${ENTER}`);
    await stage.see(/Allow it\?/);
    expect(stage.all()).toContain("The MCP server broken is not used");
    expect(stage.all()).toMatch(/mcp__h__forged\n {2}text:\n {4}one\n {4}two\n {2}size: 3\n/);
    await stage.see(/2\. yes, and always mcp__h__forged/);
    stage.type("2");
    await stage.see(/Done so\./);
    stage.type(`/tools${ENTER}`);
    await stage.see(/of servers: [^]*mcp__h__forged/);
  });

  it("MCP servers: /mcp lists them, and starts one again that failed", async () => {
    const late = join(stages.home, "late.mjs");
    const mcp = { mcpServers: { late: { command: process.execPath, args: [late] } } };
    const stage = await stages.open([], { project: { mcp } });
    const command = async (words: string, shown: RegExp): Promise<void> => {
      stage.type(`${words}${ENTER}`);
      await stage.see(shown);
    };
    await command("/mcp", /^late: not used: /m);
    await command("/mcp restart none", /none cannot be started. \/mcp lists the servers\./);
    await command("/mcp stop late", /\/mcp takes restart and a server, not stop late/);
    writeFileSync(late, `await import(${JSON.stringify(pathToFileURL(SERVER).href)});`);
    await command("/mcp restart late", /^late: 11 tools$/m);
    expect(stage.model.requests).toHaveLength(0);
  });

  it("MCP servers: /mcp says so where there are none", async () => {
    const stage = await stages.open([]);
    stage.type(`/mcp${ENTER}`);
    await stage.see(/There are no MCP servers/);
    expect(stage.session.isBusy).toBe(false);
  });

  it("budgets: a turn stops at its limit, and the next message continues", async () => {
    const look = (id: string): AIMessage =>
      Object.assign(new AIMessage({ content: "", tool_calls: [{ name: "ls", args: { path: "/" }, id }] }), {
        usage_metadata: { input_tokens: 900, output_tokens: 100, total_tokens: 1000 },
      });
    const stage = await stages.open([look("a"), look("b"), "On."], {
      settings: { budget: { tokens: 2000 } },
    });
    stage.type(`go${ENTER}`);
    await stage.see(/Stopped after 2,000 tokens/);
    await stage.see(IDLE);
    stage.type(`go on${ENTER}`);
    await stage.see(/On\./);
    expect(stage.model.requests).toHaveLength(3);
  });

  it("shows the tokens of each model call in the status line while the turn runs", async () => {
    const tool_calls = [{ name: "ls", args: { path: "/" }, id: "a" }];
    const usage_metadata = { input_tokens: 900, output_tokens: 100, total_tokens: 1000 };
    const look = Object.assign(new AIMessage({ content: "", tool_calls }), { usage_metadata });
    let goOn = (): void => {};
    const waiting = new Promise<string>((resolve) => {
      goOn = () => resolve("Done.");
    });
    const stage = await stages.open([look, () => waiting]);
    stage.type(`go${ENTER}`);
    await stage.see(/shift-tab\).* 1\.0k tokens/);
    expect(stage.session.isBusy).toBe(true);
    goOn();
    await stage.see(/Done\./);
  });

  it("traces: one for each message, sent before it is left", async () => {
    const bodies: string[] = [];
    const collector = createServer((request, response) => {
      void text(request).then((body) => {
        bodies.push(body);
        return response.end("{}");
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo;
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
    };
    const stage = await stages.open(["One.", "Two."], { env });
    stage.type(`first${ENTER}second${ENTER}`);
    await stage.see(/Two\./);
    await stage.leave();
    collector.close();
    const traces = new Set(bodies.join("").match(/"traceId":"\w+"/g));
    expect(traces.size).toBe(2);
  });

  it("rules of a trusted project: denied calls are refused, allowed calls run unasked", async () => {
    const write = (path: string) => callTool("write_file", { file_path: path, content: "x" });
    const config = { deny: ["write_file(/no/**)"], allow: ["write_file(/yes/**)"] };
    const stage = await stages.open([[write("/no/a"), write("/yes/a")], "Done so."], { project: { config } });
    stage.type(`go${ENTER}`);
    await stage.see(/Done so\./);
    expect(stage.all()).toMatch(/✗ write no\/a .* was not made: the rule write_file/);
    expect(stage.all()).toContain("✓ write yes/a 1 line");
  });
});

describe("the input of a session", () => {
  it("sends a named image if the model can read it, and takes no path as a command", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex");
    writeFileSync(join(stages.home, "shot.png"), png);
    const stage = await stages.open(["A cat."], { profile: { imageInputs: true } });
    stage.type(`${stages.home}/shot.png what is it?${ENTER}`);
    await stage.see(/A cat\./);
    expect(stage.all()).toContain("shot.png goes along");
    expect(stage.model.requests[0]!.messages.at(-1)!.content).toEqual([
      { type: "text", text: `${stages.home}/shot.png what is it?` },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } },
    ]);
  });

  it("takes an image on Ctrl-V, also during a turn, and deletes it with the session", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex");
    writeFileSync(join(stages.home, "clip"), png);
    const xclip = `#!/bin/sh\nexec cat "${stages.home}/clip"\n`;
    const programs = folderWith("xclip", xclip);
    const first = held(callTool("ls", { path: "/" }));
    const stage = await stages.open([first.step, "A cat."], {
      profile: { imageInputs: true },
      env: { PATH: `${programs}:/bin` },
      columns: 120,
    });
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type("what is\u0016");
    await stage.see(/> what is @\S+pasted-1\.png/);
    const file = /@(\S+pasted-1\.png)/.exec(stage.lines().join("\n"))![1]!;
    expect(existsSync(file)).toBe(true);
    stage.type(`${ENTER}${ENTER}`);
    await stage.see(/at its next call: what is/);
    first.go();
    await stage.see(/A cat\./);
    expect(stage.model.requests[1]!.messages.at(-1)!.content).toEqual([
      { type: "text", text: `what is @${file}` },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } },
    ]);
    writeFileSync(join(stages.home, "clip"), "words");
    stage.type("\u0016");
    await stage.see(/There is no image on the clipboard\./);
    await stage.leave();
    expect(existsSync(file)).toBe(false);
  });

  it("reports on Ctrl-V when an image has no place, continues, and takes it later", async () => {
    writeFileSync(join(stages.home, "clip"), Buffer.from("89504e470d0a1a0a0000", "hex"));
    const xclip = `#!/bin/sh\nexec cat "${stages.home}/clip"\n`;
    const programs = folderWith("xclip", xclip);
    const stage = await stages.open([], { env: { PATH: `${programs}:/bin` }, columns: 120 });
    vi.stubEnv("TMPDIR", join(stages.home, "a folder"));
    try {
      stage.type("\u0016");
      await stage.see(/The image on the clipboard cannot be taken: ENOENT/);
      mkdirSync(join(stages.home, "a folder"));
      stage.type("\u0016");
      await stage.see(/> @".*a folder.*pasted-1\.png"/);
      rmSync(join(stages.home, "a folder"), { recursive: true });
    } finally {
      vi.unstubAllEnvs();
    }
    stage.type("\u0015");
    await expect(stage.leave()).resolves.toBeUndefined();
  });
});
