import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunEvent } from "../../threads/events/index.ts";
import { MAIN } from "../../threads/view/index.ts";

/**
 * Sends progress notifications: closed items of the plan, and a sign of life during silence, as many clients restart their
 * timeout at each notification.
 */
export class Progress {
  readonly #context: ServerContext;
  readonly #silenceMs: number;
  readonly #startedAt = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #progress = 0;
  #closed = 0;
  #total = 0;
  #item = "";
  #activity = "";

  constructor(context: ServerContext, silenceMs: number) {
    this.#context = context;
    this.#silenceMs = silenceMs;
    this.#restartTimer();
  }

  /** Whether the client asked for progress. */
  get isRequested(): boolean {
    return this.#token !== undefined;
  }

  follow(event: RunEvent): void {
    switch (event.type) {
      case "plan-snapshot":
      case "plan-change": {
        if (event.owner !== MAIN) return;
        const { todos } = event;
        this.#closed = todos.filter(({ status }) => status === "completed" || status === "cancelled").length;
        this.#total = todos.length;
        const now = todos.find(({ status }) => status === "in_progress");
        this.#item = now ? `#${now.id} ${now.content}` : "";
        return this.#notify();
      }
      case "tool-start":
        this.#activity = `${event.name} ${event.about}`.trim();
        return this.#notify();
      case "model-start":
        this.#activity = "";
        return this.#notify();
      default:
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  get #token(): string | number | undefined {
    return this.#context.mcpReq._meta?.progressToken;
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#notify(), this.#silenceMs);
    this.#timer.unref();
  }

  #notify(): void {
    this.#restartTimer();
    if (this.#token === undefined) return;
    // Has to grow with every notification, also when an item is reopened.
    this.#progress = Math.max(this.#progress + 0.001, this.#closed);
    const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
    const words = [this.#item, this.#activity].filter((part) => part !== "").join(": ");
    void this.#context.mcpReq
      .notify({
        method: "notifications/progress",
        params: {
          progressToken: this.#token,
          progress: this.#progress,
          total: this.#total > 0 ? this.#total : undefined,
          message: `${this.#total > 0 ? `${this.#closed}/${this.#total} ` : ""}${words || "working"} (${seconds} s)`,
        },
      })
      // The client is gone.
      .catch(() => {});
  }
}
