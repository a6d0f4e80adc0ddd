import { attempt } from "../../../src/errors.ts";
import type { Todo } from "../../../src/plan/todo/todo.ts";
import type {
  SentAnswer,
  ChangedFile,
  Checkpoint,
  FileVersions,
  Info,
  SentPlan,
  SentTask,
  Settings,
  Thread,
  ThreadContent,
  UndoResult,
} from "./contract.ts";

/** An error response of the server; `status` is 0 if it could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The current plan, if an edit was refused as out of date. */
  readonly todos: readonly Todo[] | undefined;

  constructor(status: number, body: { error?: string; message?: string; todos?: readonly Todo[] }) {
    super(body.message ?? `The server answered ${status}.`);
    this.status = status;
    this.code = body.error ?? "unknown";
    this.todos = body.todos;
  }
}

export type Api = ReturnType<typeof createApi>;

/** A client of the server's routes for the page. Methods throw only `ApiError`. */
export function createApi(token: string) {
  const call = async <Result>(method: string, path: string, body?: object): Promise<Result> => {
    const response = await fetch(`holdfast/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(unreachable);
    const text = await response.text().catch(unreachable);
    const answer = parse(text);
    if (!response.ok) throw new ApiError(response.status, answer ?? {});
    return answer as Result;
  };
  const thread = (id: string): string => `threads/${encodeURIComponent(id)}`;
  return {
    info: () => call<Info>("GET", "info"),
    threads: (query: { limit: number; before?: string; query?: string }) =>
      call<{ threads: Thread[]; more: boolean }>("GET", `threads?${search(query)}`),
    create: (task: SentTask, { graph, ...settings }: Settings) =>
      call<{ thread: Thread; run: string }>("POST", "threads", {
        ...task,
        ...(graph !== undefined && { graph }),
        ...(Object.keys(settings).length > 0 && { settings }),
      }),
    thread: (id: string) => call<ThreadContent>("GET", thread(id)),
    run: (id: string, task: SentTask) =>
      call<{ run: string; queued?: boolean }>("POST", `${thread(id)}/runs`, task),
    say: (id: string, task: SentTask) => call<{ run?: string }>("POST", `${thread(id)}/messages`, task),
    undo: (id: string) => call<UndoResult>("POST", `${thread(id)}/undo`, {}),
    change: (id: string, settings: Pick<Settings, "mode" | "model">) =>
      call<{ thread: Thread }>("PATCH", `${thread(id)}/settings`, settings),
    resume: (id: string) => call<{ run: string }>("POST", `${thread(id)}/resume`, {}),
    stop: (id: string) => call<{ stopped: boolean }>("POST", `${thread(id)}/stop`, {}),
    answer: (id: string, answers: Record<string, SentAnswer>) =>
      call<{ run: string }>("POST", `${thread(id)}/answers`, { answers }),
    offers: (id: string) => call<{ offers: Record<string, string[]> }>("GET", `${thread(id)}/offers`),
    writePlan: (id: string, edit: SentPlan) => call<{ todos: Todo[] }>("PUT", `${thread(id)}/plan`, edit),
    fork: (id: string, checkpoint?: string) =>
      call<{ thread: Thread }>("POST", `${thread(id)}/fork`, checkpoint ? { checkpoint } : {}),
    remove: (id: string) => call<undefined>("DELETE", thread(id)),
    history: (id: string, query: { limit: number; before?: string }) =>
      call<{ checkpoints: Checkpoint[]; more: boolean }>("GET", `${thread(id)}/history?${search(query)}`),
    checkpoint: (id: string, checkpoint: string) =>
      call<ThreadContent>("GET", `${thread(id)}/checkpoints/${encodeURIComponent(checkpoint)}`),
    files: (id: string) => call<{ files: ChangedFile[] }>("GET", `${thread(id)}/files`),
    file: (id: string, path: string) => call<FileVersions>("GET", `${thread(id)}/file?${search({ path })}`),
  };
}

function unreachable(): never {
  throw new ApiError(0, { error: "unreachable", message: "The server cannot be reached." });
}

function parse(text: string): { error?: string; message?: string } | undefined {
  return attempt(() => JSON.parse(text) as object);
}

function search(query: Record<string, string | number | undefined>): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return new URLSearchParams(entries).toString();
}
