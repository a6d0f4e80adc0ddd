/** A message that waits to be sent; `isOnItsWay` while the agent at work is about to get it. */
export interface Queued {
  text: string;
  isOnItsWay: boolean;
  /** Whether it goes back to whoever typed it, should it not arrive. */
  isRecalled: boolean;
}

interface HandOver {
  isWanted: (text: string) => boolean;
  onReturn: (texts: readonly string[]) => void;
}

/** Messages typed while the agent works. A message stays in the queue until it has arrived. */
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
    this.#waiting.push({ text, isOnItsWay: false, isRecalled: false });
    this.#onChange();
  }

  /** Takes out the message that is next. */
  takeFirst(): string | undefined {
    return this.#take(this.#waiting.findIndex(isWaiting));
  }

  /** Takes out the message that was added last. */
  takeLast(): string | undefined {
    return this.#take(this.#waiting.findLastIndex(isWaiting));
  }

  /** Takes out all but what is on its way, which comes back later where it does not arrive. */
  recall(): string[] {
    const taken: string[] = [];
    for (let text = this.takeFirst(); text !== undefined; text = this.takeFirst()) taken.push(text);
    for (const queued of this.#waiting) queued.isRecalled = true;
    return taken;
  }

  /**
   * Hands waiting messages to the agent's next call; those that come too late go on waiting, or are returned if they
   * were recalled.
   */
  async handOver(say: (text: string) => Promise<void>, { isWanted, onReturn }: HandOver): Promise<void> {
    const chosen = this.#waiting.filter((queued) => isWaiting(queued) && isWanted(queued.text));
    for (const queued of chosen) queued.isOnItsWay = true;
    this.#onChange();
    await Promise.all(
      chosen.map(async (queued) => {
        try {
          await say(queued.text);
          this.#waiting.splice(this.#waiting.indexOf(queued), 1);
        } catch {
          // No model call was to come: it is the next message.
          queued.isOnItsWay = false;
        }
        const returned = this.#takeReturned();
        if (returned.length > 0) onReturn(returned);
        this.#onChange();
      }),
    );
  }

  /** The recalled messages, in order; none while one of them is still on its way. */
  #takeReturned(): string[] {
    const recalled = this.#waiting.filter(({ isRecalled }) => isRecalled);
    if (recalled.some(({ isOnItsWay }) => isOnItsWay)) return [];
    for (const queued of recalled) this.#waiting.splice(this.#waiting.indexOf(queued), 1);
    return recalled.map(({ text }) => text);
  }

  #take(at: number): string | undefined {
    const [taken] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (taken) this.#onChange();
    return taken?.text;
  }
}

function isWaiting({ isOnItsWay, isRecalled }: Queued): boolean {
  return !isOnItsWay && !isRecalled;
}
