import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunEvent } from "../../threads/events/index.ts";
import { MAIN } from "../../threads/view/index.ts";

/**
 * Tells a caller how far a thread is, by the items of its plan, and that it is still at work where nothing happens: the
 * time limits of many callers begin anew with each word.
 */
export class Progress {
  readonly #context: ServerContext;
  readonly #silenceMs: number;
  readonly #began = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #progress = 0;
  #closed = 0;
  #total = 0;
  #item = "";
  #doing = "";

  constructor(context: ServerContext, silenceMs: number) {
    this.#context = context;
    this.#silenceMs = silenceMs;
    this.#rest();
  }

  /** Whether the caller wants to hear of it. */
  get isHeard(): boolean {
    return this.#token !== undefined;
  }

  follow(event: RunEvent): void {
    switch (event.type) {
      case "plan-snapshot":
      case "plan-change": {
        if (event.owner !== MAIN) return;
        const { todos } = event;
        const isClosed = (status: string): boolean => status === "completed" || status === "cancelled";
        this.#closed = todos.filter(({ status }) => isClosed(status)).length;
        this.#total = todos.length;
        const now = todos.find(({ status }) => status === "in_progress");
        this.#item = now ? `#${now.id} ${now.content}` : "";
        return this.#tell();
      }
      case "tool-start":
        this.#doing = `${event.name} ${event.about}`.trim();
        return this.#tell();
      case "model-start":
        this.#doing = "";
        return this.#tell();
      default:
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  get #token(): string | number | undefined {
    return this.#context.mcpReq._meta?.progressToken;
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(), this.#silenceMs);
    this.#timer.unref();
  }

  #tell(): void {
    this.#rest();
    if (this.#token === undefined) return;
    // It has to grow with every word, and an item may be opened again.
    this.#progress = Math.max(this.#progress + 0.001, this.#closed);
    const seconds = Math.round((Date.now() - this.#began) / 1000);
    const words = [this.#item, this.#doing].filter((part) => part !== "").join(": ");
    void this.#context.mcpReq
      .notify({
        method: "notifications/progress",
        params: {
          progressToken: this.#token,
          progress: this.#progress,
          ...(this.#total > 0 && { total: this.#total }),
          message: `${this.#total > 0 ? `${this.#closed}/${this.#total} ` : ""}${words || "at work"} (${seconds} s)`,
        },
      })
      // Nobody hears it any more.
      .catch(() => {});
  }
}
