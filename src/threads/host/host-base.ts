import type { MessageContent } from "@langchain/core/messages";
import { HarnessError } from "../../errors.ts";
import type { HostedThread, Ledger } from "../../storage/index.ts";
import { requestSay, type RequestOptions } from "../edit/mailbox.ts";
import type { RunEventBody } from "../events/events.ts";
import { Thread } from "../thread/thread.ts";
import { HostThread } from "./client.ts";
import type { HostedGraph } from "./graphs.ts";
import type { HostPort } from "./port.ts";
import { risingNumber } from "./records.ts";
import { EventLog } from "./stream/event-log.ts";
import type { HostEvent, StampedEvent } from "./stream/live-events.ts";

/** The last of the host's events to keep: fewer where no page has read them for a while. */
const MOST_EVENTS = { most: 20_000, mostUnread: 1000 };

/** The parts that are the same for every host: its graphs, and the events that it publishes. */
export abstract class HostBase {
  readonly graphs: ReadonlyMap<string, HostedGraph>;
  readonly events = new EventLog<HostEvent>({ first: risingNumber(), ...MOST_EVENTS });
  abstract readonly ledger: Ledger;

  constructor(graphs: ReadonlyMap<string, HostedGraph>) {
    this.graphs = graphs;
  }

  graph(name: string): HostedGraph {
    const graph = this.graphs.get(name);
    if (graph) return graph;
    const names = [...this.graphs.keys()].join(", ");
    const message = `There is no graph ${JSON.stringify(name)}; there are: ${names}.`;
    throw new HarnessError("invalid-request", message);
  }

  async graphOf(thread: string): Promise<string> {
    return this.graphName(await this.ledger.thread(thread));
  }

  graphName(thread: Pick<HostedThread, "graph"> | undefined): string {
    const name = thread?.graph;
    return name !== undefined && this.graphs.has(name) ? name : [...this.graphs.keys()][0]!;
  }

  thread(this: HostPort, id: string): HostThread {
    return new HostThread(this, id);
  }

  async noteMove(thread: string): Promise<void> {
    const owner = await this.#tellOwner(thread);
    this.events.push({ kind: "moved", thread, owner });
  }

  async say(thread: string, content: MessageContent, options?: RequestOptions): Promise<void> {
    await requestSay(await this.readable(thread), content, options);
  }

  /** A thread to read, and to change while nobody runs it. */
  protected async readable(thread: string): Promise<Thread> {
    return new Thread(await this.graph(await this.graphOf(thread)).reader(thread), thread);
  }

  /** Tells everybody that something about a thread has changed. */
  protected tellThread({ id: thread, owner }: Pick<HostedThread, "id" | "owner">): void {
    this.events.push({ kind: "thread", thread, owner });
  }

  /** Publishes an edit that was made while no run was at work. */
  protected async tellEdit(thread: string, news: RunEventBody): Promise<void> {
    const owner = (await this.ledger.thread(thread))?.owner;
    const event = { ...news, version: 1, at: Date.now(), thread } as StampedEvent;
    event.n = this.events.push({ kind: "run", thread, owner, event });
    await this.#tellOwner(thread);
  }

  async #tellOwner(thread: string): Promise<string | undefined> {
    const { owner } = (await this.ledger.thread(thread)) ?? {};
    this.tellThread({ id: thread, ...(owner !== undefined && { owner }) });
    return owner;
  }
}
