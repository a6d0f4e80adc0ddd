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

/** A call as events, previews and questions describe it. */
export interface ToldCall {
  owner: string;
  call: string;
  name: string;
  args?: unknown;
  /** Its title in the list, where name and arguments do not give one. */
  title?: string;
}

interface Call extends ToldCall {
  /** Its id for the editor, unique in the session: some models number their calls anew in every turn. */
  id: string;
  status: ToolCallStatus;
  /** Its content besides the text of its result. */
  content: ToolCallContent[];
  /** Whether `content` is the real change, and not the one of the arguments. */
  isExact: boolean;
}

/** A call as a person is asked about it. */
export type AskedCall = RequestPermissionRequest["toolCall"];

type Changes = Partial<Pick<AskedCall, "status" | "content" | "rawOutput">>;

/** A change of a file; its path as the agent has it. */
export interface FileChange {
  path: string;
  oldText: string | null;
  newText: string;
}

/** The tool calls of a session as its editor knows them. Those of the plan are shown as the plan. */
export class Calls {
  readonly #dir: string;
  readonly #send: (update: SessionUpdate) => void;
  /** Calls that have not ended. */
  readonly #open = new Map<string, Call>();
  readonly #ids = new Set<string>();

  constructor(dir: string, send: (update: SessionUpdate) => void) {
    this.#dir = dir;
    this.#send = send;
  }

  /** A call that waits for a person, as the editor gets to see it. */
  ask(
    told: ToldCall,
    { change, note }: { change?: FileChange | undefined; note?: string | undefined },
  ): AskedCall {
    const call = this.#find(told) ?? this.#announce(told, "pending");
    const content = [
      ...(change ? [this.#diff(change)] : call.content),
      ...(note === undefined ? [] : [textContent(note)]),
    ];
    if (content.length > call.content.length || change) this.#update(call, { content });
    return { ...this.#described(call), content: call.content };
  }

  start(told: Extract<RunEvent, { type: "tool-start" }>): void {
    if (PLAN_TOOLS.has(told.name)) return;
    const known = this.#find(told);
    if (known) this.#update(known, { status: "in_progress" });
    else this.#announce(told, "in_progress");
  }

  end(
    told: Pick<Extract<RunEvent, { type: "tool-end" }>, "owner" | "call" | "ok" | "output" | "result">,
  ): void {
    const call = this.#find(told);
    if (call) this.#end(call, told.ok ? "completed" : "failed", told.output ?? told.result);
  }

  /** Shows the change of a file in the call that made it. */
  showChange(change: FileChange): void {
    const shown = join(this.#dir, change.path);
    this.#showExact((args) => locationsOf(args, this.#dir)[0]?.path === shown, [this.#diff(change)]);
  }

  /** Shows a terminal of the editor in the call whose command runs in it. */
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

  #announce(told: ToldCall, status: ToolCallStatus): Call {
    const { owner, call, name, args, title } = told;
    const content = diffIn({ name, args }, this.#dir);
    const id = this.#freshId(call);
    const made: Call = { owner, call, name, args, status, id, content, isExact: false };
    if (title !== undefined) made.title = title;
    this.#open.set(made.id, made);
    this.#send({
      sessionUpdate: "tool_call",
      ...this.#described(made),
      ...(content.length > 0 && { content }),
      ...(owner !== MAIN && { _meta: { holdfast: { owner } } }),
    });
    return made;
  }

  #described(call: Call) {
    const { id: toolCallId, name, args, status, title = titleOf(call) } = call;
    const locations = locationsOf(args, this.#dir);
    return { toolCallId, title, name, kind: kindOf(name), status, rawInput: args, locations };
  }

  #update(call: Call, changes: Changes): void {
    if (changes.status) call.status = changes.status;
    if (changes.content) call.content = changes.content;
    this.#send({ sessionUpdate: "tool_call_update", toolCallId: call.id, ...changes });
  }

  #end(call: Call, status: "completed" | "failed", output: string): void {
    this.#open.delete(call.id);
    // A diff or a terminal says more than the words about it, which would take its place.
    const isShown = status === "completed" && call.content.some(({ type }) => type !== "content");
    const content = isShown ? undefined : [...call.content, outputOf(call.name, output)];
    this.#update(call, { status, rawOutput: { text: output }, ...(content && { content }) });
  }

  #find({ owner, call }: Pick<ToldCall, "owner" | "call">): Call | undefined {
    return [...this.#open.values()].find((one) => one.owner === owner && one.call === call);
  }

  /** Shows a real change at one of the calls that match, such as several edits of one file, each once. */
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
