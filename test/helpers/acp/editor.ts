import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type InitializeResponse,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");

export interface EditorOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  flags?: readonly string[];
  nodeFlags?: readonly string[];
  capabilities?: ClientCapabilities;
  /** Which option is chosen; undefined never answers. */
  permit?: (request: RequestPermissionRequest) => string | undefined;
  fill?: (request: CreateElicitationRequest) => CreateElicitationResponse;
  /** Unsaved text, by path. */
  buffers?: Map<string, string>;
}

/** A process of `holdfast acp`, and the SDK's own client as the editor that started it. */
export interface Editor {
  agent: ClientContext;
  hello: InitializeResponse;
  child: ChildProcess;
  updates: SessionUpdate[];
  asked: RequestPermissionRequest[];
  /** All that came over standard output, and over standard error. */
  output: () => string;
  errors: () => string;
  prompt: (session: string, ...prompt: (string | ContentBlock)[]) => Promise<PromptResponse>;
  /** What the agent has said since the last look. */
  said: () => string;
  /** Forgets what was said and asked so far. */
  clear: () => void;
  end: () => Promise<number | null>;
}

export async function startEditor(options: EditorOptions): Promise<Editor> {
  const { cwd, env, flags = [], nodeFlags = [], capabilities = {}, permit, fill, buffers } = options;
  const child = spawn(process.execPath, [...nodeFlags, MAIN, "acp", ...flags], { cwd, env });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (output += text.toString()));
  child.stderr.on("data", (text: Buffer) => (errors += text.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const terminals = new Map<string, { output: string; exit: Promise<number | null>; child: ChildProcess }>();

  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      const optionId = permit?.(params);
      if (optionId === undefined) return new Promise<never>(() => {});
      return { outcome: { outcome: "selected" as const, optionId } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => fill!(params))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = buffers?.get(params.path);
      if (content === undefined) throw new Error("not open");
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      buffers?.set(params.path, params.content);
      return {};
    })
    .onRequest(methods.client.terminal.create, ({ params }) => {
      const run = spawn(params.command, params.args ?? [], { cwd: params.cwd ?? cwd });
      const terminal = {
        output: "",
        child: run,
        exit: new Promise<number | null>((resolve) => {
          run.on("close", (code) => resolve(code));
        }),
      };
      for (const stream of [run.stdout, run.stderr])
        stream.on("data", (text: Buffer) => (terminal.output += text.toString()));
      const terminalId = `terminal-${terminals.size}`;
      terminals.set(terminalId, terminal);
      return { terminalId };
    })
    .onRequest(methods.client.terminal.waitForExit, async ({ params }) => ({
      exitCode: await terminals.get(params.terminalId)!.exit,
    }))
    .onRequest(methods.client.terminal.output, ({ params }) => ({
      output: terminals.get(params.terminalId)!.output,
      truncated: false,
    }))
    .onRequest(methods.client.terminal.kill, ({ params }) => {
      terminals.get(params.terminalId)!.child.kill("SIGKILL");
      return {};
    })
    .onRequest(methods.client.terminal.release, () => ({}));

  const connection = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  );
  const { agent } = connection;
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: capabilities,
  });
  let read = 0;
  return {
    agent,
    hello,
    child,
    updates,
    asked,
    output: () => output,
    errors: () => errors,
    prompt: (sessionId, ...prompt) =>
      agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: prompt.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)),
      }),
    said: () => {
      const text = updates
        .slice(read)
        .flatMap((update) =>
          update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
            ? update.content.text
            : [],
        )
        .join("");
      read = updates.length;
      return text;
    },
    clear: () => {
      updates.length = asked.length = read = 0;
    },
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}
