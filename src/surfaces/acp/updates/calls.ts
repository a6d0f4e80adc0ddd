import { join } from "node:path";
import type {
  RequestPermissionRequest,
  SessionUpdate,
  ToolCallContent,
  ToolCallStatus,
} from "@agentclientprotocol/sdk";
import type { Todo } from "../../../plan/index.ts";
import { PLAN_TOOLS } from "../../../plan/presets/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { planText } from "../../../threads/plan/index.ts";
import { MAIN } from "../../../threads/view/index.ts";
import { diffIn, kindOf, locationsOf, outputOf, textContent, titleOf } from "./call-content.ts";

/** A tool call as events and questions describe it. */
export interface CallInfo {
  owner: string;
  call: string;
  name: string;
  args?: unknown;
  /** The title; by default made of name and arguments. */
  title?: string;
}

interface EditorCall extends CallInfo {
  /** The editor's id, unique in the session: some models restart the numbers of their calls in every turn. */
  id: string;
  status: ToolCallStatus;
  /** Content besides the text of the result. */
  content: ToolCallContent[];
  /** Whether `content` is the change that was made, not the one in the arguments. */
  isExact: boolean;
}

/** A call in a request for permission. */
export type AskedCall = RequestPermissionRequest["toolCall"];

type Changes = Partial<Pick<AskedCall, "status" | "content" | "rawOutput">>;

/** A change of a file; its path is the agent's. */
export interface FileChange {
  path: string;
  oldText: string | null;
  newText: string;
}

/** Reports the tool calls of a session to its editor. Calls of plan tools appear as the plan instead. */
export class Calls {
  readonly #dir: string;
  readonly #send: (update: SessionUpdate) => void;
  /** Calls that have not ended. */
  readonly #open = new Map<string, EditorCall>();
  readonly #ids = new Set<string>();

  constructor(dir: string, send: (update: SessionUpdate) => void) {
    this.#dir = dir;
    this.#send = send;
  }

  /** Reports a call that waits for permission, and returns it for the request. */
  ask(info: CallInfo, { change, note }: { change?: FileChange; note?: string }): AskedCall {
    const call = this.#find(info) ?? this.#announce(info, "pending");
    const content = [
      ...(change ? [this.#diff(change)] : call.content),
      ...(note === undefined ? [] : [textContent(note)]),
    ];
    if (content.length > call.content.length || change) this.#update(call, { content });
    return { ...this.#described(call), content: call.content };
  }

  start(event: Extract<RunEvent, { type: "tool-start" }>): void {
    if (PLAN_TOOLS.has(event.name)) return;
    const call = this.#find(event);
    if (call) this.#update(call, { status: "in_progress" });
    else this.#announce(event, "in_progress");
  }

  end(
    event: Pick<Extract<RunEvent, { type: "tool-end" }>, "owner" | "call" | "ok" | "output" | "result">,
  ): void {
    const call = this.#find(event);
    if (call) this.#end(call, event.ok ? "completed" : "failed", event.output ?? event.result);
  }

  /** Shows what the command of a call has printed so far, unless the editor's own terminal does. */
  showOutput(event: Extract<RunEvent, { type: "tool-output" }>): void {
    const call = this.#find(event);
    if (!call || call.content.some(({ type }) => type === "terminal")) return;
    const content = [...call.content, outputOf(call.name, event.text)];
    this.#send({ sessionUpdate: "tool_call_update", toolCallId: call.id, content });
  }

  /** Shows the change of a file in the call that made it. */
  showChange(change: FileChange): void {
    const path = join(this.#dir, change.path);
    this.#showExact((args) => locationsOf(args, this.#dir)[0]?.path === path, [this.#diff(change)]);
  }

  /** Shows an editor's terminal in the call whose command runs in it. */
  showTerminal(words: readonly string[], terminalId: string): void {
    this.#showExact(
      ({ command }) => typeof command === "string" && words.some((word) => word.includes(command)),
      [{ type: "terminal", terminalId }],
    );
  }

  /** Shows the plan of a sub-agent in the call that it works for. */
  showPlan(owner: string, todos: readonly Todo[]): void {
    const call = [...this.#open.values()].find(
      (one) => owner.startsWith(`${one.owner}/`) && owner.slice(owner.lastIndexOf(":") + 1) === one.call,
    );
    if (call) this.#update(call, { content: [textContent(planText(todos))] });
  }

  /** Ends all open calls, so that no editor shows one as running. */
  endAll(why: string): void {
    for (const call of this.#open.values()) this.#end(call, "failed", why);
  }

  #announce(info: CallInfo, status: ToolCallStatus): EditorCall {
    const { owner, call: callId, name, args, title } = info;
    const content = diffIn({ name, args }, this.#dir);
    const id = this.#freshId(callId);
    const call: EditorCall = { owner, call: callId, name, args, status, id, content, isExact: false };
    if (title !== undefined) call.title = title;
    this.#open.set(id, call);
    this.#send({
      sessionUpdate: "tool_call",
      ...this.#described(call),
      content: content.length > 0 ? content : undefined,
      _meta: owner !== MAIN ? { holdfast: { owner } } : undefined,
    });
    return call;
  }

  #described(call: EditorCall) {
    const { id: toolCallId, name, args, status, title = titleOf(call) } = call;
    const locations = locationsOf(args, this.#dir);
    return { toolCallId, title, name, kind: kindOf(name), status, rawInput: args, locations };
  }

  #update(call: EditorCall, changes: Changes): void {
    if (changes.status) call.status = changes.status;
    if (changes.content) call.content = changes.content;
    this.#send({ sessionUpdate: "tool_call_update", toolCallId: call.id, ...changes });
  }

  #end(call: EditorCall, status: "completed" | "failed", output: string): void {
    this.#open.delete(call.id);
    // A text would replace a diff or a terminal, which shows more.
    const isShown = status === "completed" && call.content.some(({ type }) => type !== "content");
    const content = isShown ? undefined : [...call.content, outputOf(call.name, output)];
    this.#update(call, { status, rawOutput: { text: output }, content });
  }

  #find({ owner, call }: Pick<CallInfo, "owner" | "call">): EditorCall | undefined {
    return [...this.#open.values()].find((one) => one.owner === owner && one.call === call);
  }

  /** Shows a change in one of the matching calls, each time in another one: several calls may edit one file. */
  #showExact(fits: (args: Record<string, unknown>) => boolean, content: ToolCallContent[]): void {
    const call = [...this.#open.values()].find(
      ({ args, status, isExact }) =>
        status === "in_progress" && !isExact && fits((args ?? {}) as Record<string, unknown>),
    );
    if (!call) return;
    call.isExact = true;
    this.#update(call, { content });
  }

  #diff({ path, ...texts }: FileChange): Extract<ToolCallContent, { type: "diff" }> {
    return { type: "diff", path: join(this.#dir, path), ...texts };
  }

  #freshId(call: string): string {
    let id = call || "call";
    for (let n = 2; this.#ids.has(id); n += 1) id = `${call || "call"}~${n}`;
    this.#ids.add(id);
    return id;
  }
}
