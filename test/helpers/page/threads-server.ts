import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, beforeEach, expect } from "vitest";
import { HarnessError } from "../../../src/errors.ts";
import { sqliteSaver, type SqliteSaver } from "../../../src/storage/index.ts";
import { listen } from "../../../src/surfaces/server/listen.ts";
import type { PageThread } from "../../../src/surfaces/server/page/thread-out.ts";
import {
  createThreadsServer,
  type ThreadsServerOptions,
} from "../../../src/surfaces/server/threads-server.ts";
import { callTool, ScriptedModel, type Step } from "../../../src/testing/index.ts";
import type { StampedEvent } from "../../../src/threads/host/stream/live-events.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../src/threads/prepare/settings.ts";
import type { Question } from "../../../src/threads/questions/index.ts";

export let folder: string;
export let saver: SqliteSaver;
export let url: string;
export let stop: () => Promise<void>;
/** Goes on with what a server before this one left, and keeps its schedules. */
export let recover: () => Promise<void>;

/** Gives every test of a file a folder and a store of its own, and ends its server. */
export function setStage(): void {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
    saver = await sqliteSaver(join(folder, "threads.db"));
  });
  afterEach(async () => {
    await stop();
    saver.close();
    rmSync(folder, { recursive: true });
  });
}

/** Starts a server whose model follows a script, and returns the model. */
export async function start(
  steps: Step[],
  settings: Partial<RunSettings> = {},
  more: Partial<ThreadsServerOptions> = {},
  script: { loop?: boolean } = {},
): Promise<ScriptedModel> {
  const model = new ScriptedModel(steps, script);
  const server = await createThreadsServer({
    saver,
    store: new InMemoryStore(),
    cwd: folder,
    defaults: { ...DEFAULT_SETTINGS, model: "scripted", ...settings },
    modelOf: async (name) => {
      if (name === "nobody:x") throw new HarnessError("invalid-model", "There is no provider nobody.");
      return { model, name: "scripted", source: "option", isFallback: false };
    },
    pricesOf: (name) => (name === "scripted" ? { input: 1, output: 1, cached: 1 } : undefined),
    token: "secret",
    isOpen: false,
    ...more,
  });
  const listening = await listen(server, { port: 0, hostname: "127.0.0.1" });
  ({ url } = listening);
  ({ recover } = server);
  stop = async () => {
    await server.close();
    await listening.close();
  };
  return model;
}

export const HEADERS = { authorization: "Bearer secret", "content-type": "application/json" };

export async function send(
  method: string,
  path: string,
  given?: object,
): Promise<{ status: number; body: Body }> {
  const body = given === undefined ? {} : { body: JSON.stringify(given) };
  const response = await fetch(`${url}/holdfast${path}`, { method, headers: HEADERS, ...body });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as Body };
}

/** All that any answer has. */
interface Body extends Opened {
  threads: PageThread[];
  more: boolean;
  queued?: boolean;
  offers: Record<string, string[]>;
  checkpoints: { id: string; todos: { done: number; total: number } }[];
  todos: { id: string; content: string; status: string }[];
}

export interface Opened {
  thread: PageThread;
  settings: RunSettings;
  questions: Question[];
  kept: string[];
  head?: string;
  events: StampedEvent[];
  last: number;
}

export async function open(thread: string): Promise<Opened> {
  return (await send("GET", `/threads/${thread}`)).body;
}

/** A thread once it is no longer at work. */
export async function settled(thread: string): Promise<Opened> {
  for (;;) {
    const opened = await open(thread);
    if (opened.thread.status !== "running") return opened;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export async function begin(task: string, settings?: object): Promise<string> {
  const { status, body } = await send("POST", "/threads", {
    task,
    ...(settings && { settings }),
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.thread.id;
}

export interface Sse {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** Reads the stream until something comes. */
export async function eventsUntil(
  isLast: (event: Sse) => boolean,
  headers: object = {},
  onOpen?: () => Promise<unknown>,
): Promise<Sse[]> {
  const response = await fetch(`${url}/holdfast/events`, { headers: { ...HEADERS, ...headers } });
  await onOpen?.();
  const events: Sse[] = [];
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (!field("data")) continue;
      events.push({
        id: Number(field("id")),
        event: field("event"),
        data: JSON.parse(field("data")) as Sse["data"],
      });
    }
    const last = events.findIndex(isLast);
    if (last >= 0) return events.slice(0, last + 1);
  }
  return events;
}

export const isEnd = ({ data }: Sse): boolean => data["type"] === "run-end";
export const types = (events: readonly { type?: unknown }[]): unknown[] =>
  events.map(({ type }) => type).filter((type) => type !== "text");

export const PLAN = callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] });
export const WRITE = callTool("write_file", { file_path: "/a.md", content: "one\ntwo\n" });
export const DONE = callTool("update_todos", { done: ["1"], note: "by hand" });
