/** A message that waits to be sent; `isOnItsWay` while the agent at work is about to get it. */
export interface Queued {
  text: string;
  isOnItsWay: boolean;
}

/** What was typed while the agent works. A message is in it until it has arrived. */
export class Queue {
  readonly #waiting: Queued[] = [];
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get all(): readonly Queued[] {
    return [...this.#waiting];
  }

  add(text: string): void {
    this.#waiting.push({ text, isOnItsWay: false });
    this.#onChange();
  }

  /** Takes out the message that is next. */
  first(): string | undefined {
    return this.#take(this.#waiting.findIndex(({ isOnItsWay }) => !isOnItsWay));
  }

  /** Takes out the message that was added last. */
  last(): string | undefined {
    return this.#take(this.#waiting.findLastIndex(({ isOnItsWay }) => !isOnItsWay));
  }

  /** Takes out all but what is on its way. */
  takeAll(): string[] {
    const taken: string[] = [];
    for (let text = this.first(); text !== undefined; text = this.first()) taken.push(text);
    return taken;
  }

  /** What waits, and is wanted, reaches the agent in its next call; what comes too late for that goes on waiting. */
  async handOver(
    say: (text: string) => Promise<void>,
    { isWanted, onArrival }: { isWanted: (text: string) => boolean; onArrival: (text: string) => void },
  ): Promise<void> {
    const chosen = this.#waiting.filter(({ text, isOnItsWay }) => !isOnItsWay && isWanted(text));
    for (const queued of chosen) queued.isOnItsWay = true;
    this.#onChange();
    await Promise.all(
      chosen.map(async (queued) => {
        try {
          await say(queued.text);
          this.#waiting.splice(this.#waiting.indexOf(queued), 1);
          onArrival(queued.text);
        } catch {
          // No model call was to come: it is the next message.
          queued.isOnItsWay = false;
        }
        this.#onChange();
      }),
    );
  }

  #take(at: number): string | undefined {
    const [taken] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (taken) this.#onChange();
    return taken?.text;
  }
}
