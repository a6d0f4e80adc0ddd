import type { RunEvent, Usage } from "../events/index.ts";
import { MAIN, costOf, type Prices } from "../view/index.ts";
import { modelNames, type Attributes, type Span, type Tracer } from "./span.ts";

interface RunTraceOptions {
  tracer: Tracer;
  /** The agent's name. Default `holdfast`. */
  name?: string;
  prices?: Prices;
  /** Whether spans have messages, arguments and results. Default false. */
  hasContent?: boolean;
}

interface Agent {
  span: Span;
  /** Items in progress, by id. */
  items: Map<string, Span>;
  chat?: Span;
}

/**
 * Makes spans of a run from its events, by the GenAI conventions: `invoke_agent`, below it a span for each plan item with
 * the `chat` and `execute_tool` spans while it was in progress. Sub-agents are below the call that started them.
 */
export class RunTrace {
  readonly #options: RunTraceOptions;
  readonly #agents = new Map<string, Agent>();
  readonly #calls = new Map<string, Span>();
  #thread = "";
  #model = "";
  /** Attributes of every `chat` span. */
  #chat: Attributes = {};

  constructor(options: RunTraceOptions) {
    this.#options = options;
  }

  follow(event: RunEvent): void {
    const { at } = event;
    switch (event.type) {
      case "run-start": {
        this.#thread = event.thread;
        this.#model = event.model;
        this.#chat = { ...this.#common("chat"), ...modelNames(event.model) };
        const { span } = this.#begin(MAIN, this.#options.name ?? "holdfast", at);
        span.set({ "holdfast.resumed": event.resumed });
        this.#setContent(span, { "holdfast.task": event.task });
        return;
      }
      case "plan-snapshot":
        return this.#plan(event.owner, event.todos, at);
      case "plan-change": {
        const { owner, by, counts, changes, todos } = event;
        this.#agents.get(owner)?.span.note("plan-change", at, {
          "holdfast.plan.by": by,
          "holdfast.plan.changes": changes.length,
          "holdfast.plan.completed": counts.completed,
          "holdfast.plan.total": counts.total,
        });
        return this.#plan(owner, todos, at);
      }
      case "model-start": {
        const agent = this.#agents.get(event.owner);
        if (!agent) return;
        this.#endChat(agent, at, "The model call failed.");
        const parent = this.#parentOf(event.owner);
        const attributes = this.#chat;
        agent.chat = this.#options.tracer.start(`chat ${this.#model}`, {
          at,
          parent,
          attributes,
          isCall: true,
        });
        return;
      }
      case "model-retry": {
        const { owner, reason, seconds } = event;
        this.#agents.get(owner)?.chat?.note("retry", at, { reason, seconds: { fraction: seconds } });
        return;
      }
      case "model-end": {
        const agent = this.#agents.get(event.owner);
        if (!agent) return;
        agent.chat?.set(this.#usage(event.usage));
        this.#setContent(agent.chat, { "holdfast.answer": event.text });
        return this.#endChat(agent, at);
      }
      case "tool-start": {
        const { owner, call, name, args, repeated } = event;
        const parent = this.#parentOf(owner);
        if (!parent) return;
        const attributes = {
          ...this.#common("execute_tool"),
          "gen_ai.tool.name": name,
          "gen_ai.tool.type": "function",
          "gen_ai.tool.call.id": call,
          "holdfast.repeated": repeated,
        };
        const span = this.#options.tracer.start(`execute_tool ${name}`, { at, parent, attributes });
        this.#setContent(span, { "gen_ai.tool.call.arguments": args });
        this.#calls.set(`${owner} ${call}`, span);
        return;
      }
      case "tool-end": {
        const { owner, call, ok, result, output, exitCode } = event;
        const span = this.#calls.get(`${owner} ${call}`);
        this.#calls.delete(`${owner} ${call}`);
        if (!span) return;
        if (exitCode != null) span.set({ "process.exit.code": exitCode });
        this.#setContent(span, { "gen_ai.tool.call.result": output ?? result });
        if (!ok) span.fail(this.#why(result, "The call failed."));
        span.end(at);
        return;
      }
      case "subagent-start": {
        const { span } = this.#begin(event.owner, event.name, at);
        const { todoId, description } = event;
        span.set({ "holdfast.todo.id": todoId });
        this.#setContent(span, { "holdfast.task": description });
        return;
      }
      case "subagent-end":
        return this.#finish(event.owner, at, event.ok ? undefined : (event.error ?? "It failed."));
      case "question":
      case "answer":
        this.#agents.get(MAIN)?.span.note(event.type, at, {
          "holdfast.question.id": event.id,
          "holdfast.question.kind": event.type === "question" ? event.kind : undefined,
        });
        return;
      case "completion-refusal":
        this.#agents.get(event.owner)?.span.note(event.type, at, {
          "holdfast.todo.id": event.todoId,
          "holdfast.reason": this.#options.hasContent ? event.reason : undefined,
        });
        return;
      case "run-end": {
        const { outcome, counts, usage, cost, error } = event;
        this.#agents.get(MAIN)?.span.set({
          ...this.#usage(usage),
          ...(cost !== undefined && { "holdfast.cost.usd": { fraction: cost } }),
          "holdfast.outcome": outcome,
          "holdfast.plan.completed": counts.completed,
          "holdfast.plan.total": counts.total,
        });
        for (const span of this.#calls.values()) span.end(at);
        this.#calls.clear();
        const others = [...this.#agents.keys()].filter((owner) => owner !== MAIN).toReversed();
        for (const owner of others) this.#finish(owner, at);
        return this.#finish(MAIN, at, outcome === "failed" ? (error ?? "The run failed.") : undefined);
      }
      case "summary":
        this.#agents.get(event.owner)?.span.note(event.type, at, {
          "holdfast.summary.messages": event.messages,
          "holdfast.summary.tokens": event.tokens,
        });
        return;
      case "summary-failure":
        this.#agents.get(event.owner)?.span.note(event.type, at);
        return;
      case "text":
      case "thought":
      case "tool-output":
      case "message":
      case "notice":
        return;
    }
  }

  #begin(owner: string, name: string, at: number): Agent {
    this.#finish(owner, at);
    const span = this.#options.tracer.start(`invoke_agent ${name}`, {
      at,
      parent: owner === MAIN ? undefined : this.#parentOfAgent(owner),
      attributes: {
        ...this.#common("invoke_agent"),
        ...modelNames(this.#model),
        "gen_ai.agent.name": name,
        "gen_ai.agent.id": this.#options.hasContent ? owner : withoutTitles(owner),
      },
    });
    const agent = { span, items: new Map<string, Span>() };
    this.#agents.set(owner, agent);
    return agent;
  }

  /** The parent span of a sub-agent: the call that started it. */
  #parentOfAgent(owner: string): Span | undefined {
    const end = owner.lastIndexOf("/");
    const parent = owner.slice(0, Math.max(0, end)) || MAIN;
    const call = owner.slice(owner.lastIndexOf(":") + 1);
    return this.#calls.get(`${parent} ${call}`) ?? this.#parentOf(parent);
  }

  /** The parent of an agent's next span: its item in progress, if there is exactly one, else the agent. */
  #parentOf(owner: string): Span | undefined {
    const agent = this.#agents.get(owner);
    const [item, ...others] = agent?.items.values() ?? [];
    return item && others.length === 0 ? item : agent?.span;
  }

  #common(operation: string): Attributes {
    return { "gen_ai.operation.name": operation, "gen_ai.conversation.id": this.#thread };
  }

  #plan(owner: string, todos: Extract<RunEvent, { type: "plan-snapshot" }>["todos"], at: number): void {
    const agent = this.#agents.get(owner);
    if (!agent) return;
    for (const { id, content, status, note, actuals } of todos) {
      const open = agent.items.get(id);
      if (status === "in_progress" && !open) {
        const attributes = { ...this.#common("plan_item"), "holdfast.todo.id": id };
        const span = this.#options.tracer.start(`plan_item ${id}`, { at, parent: agent.span, attributes });
        this.#setContent(span, { "holdfast.todo.content": content });
        agent.items.set(id, span);
      } else if (open && status !== "in_progress") {
        open.set({
          "holdfast.todo.status": status,
          "gen_ai.usage.input_tokens": actuals?.inputTokens,
          "gen_ai.usage.output_tokens": actuals?.outputTokens,
          "holdfast.todo.tool_calls": actuals?.toolCalls,
        });
        if (status === "blocked") open.fail(this.#why(note, "The item is blocked."));
        open.end(at);
        agent.items.delete(id);
      }
    }
    const ids = new Set(todos.map(({ id }) => id));
    for (const [id, span] of agent.items) {
      if (ids.has(id)) continue;
      span.set({ "holdfast.todo.status": "removed" });
      span.end(at);
      agent.items.delete(id);
    }
  }

  #endChat(agent: Agent, at: number, error?: string): void {
    if (error !== undefined) agent.chat?.fail(error);
    agent.chat?.end(at);
    agent.chat = undefined;
  }

  #finish(owner: string, at: number, error?: string): void {
    const agent = this.#agents.get(owner);
    if (!agent) return;
    this.#endChat(agent, at);
    for (const span of agent.items.values()) {
      span.set({ "holdfast.todo.status": "in_progress" });
      span.end(at);
    }
    if (error !== undefined) agent.span.fail(error);
    agent.span.end(at);
    this.#agents.delete(owner);
  }

  #usage(usage: Usage): Attributes {
    const { prices } = this.#options;
    return {
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.writtenTokens || undefined,
      "holdfast.cost.usd": prices ? { fraction: costOf(usage, prices) } : undefined,
    };
  }

  /**
   * The error of a span. Errors of tools and models may have content, and are replaced by `otherwise` unless content is
   * wanted.
   */
  #why(text: string | undefined, otherwise: string): string {
    return (this.#options.hasContent && text) || otherwise;
  }

  /** Sets attributes with content, if that is wanted. */
  #setContent(span: Span | undefined, all: Readonly<Record<string, unknown>>): void {
    if (!span || !this.#options.hasContent) return;
    const entries = Object.entries(all).map(([key, value]) => [
      key,
      value === undefined || typeof value === "string" ? value : JSON.stringify(value),
    ]);
    span.set(Object.fromEntries(entries) as Attributes);
  }
}

/** An owner without titles, which are text of the model: `main/call_7`. */
function withoutTitles(owner: string): string {
  return owner.replaceAll(/(?<=\/)[^/:]*:/g, "");
}
