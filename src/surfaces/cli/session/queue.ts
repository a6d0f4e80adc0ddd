/** A queued message; `isOnItsWay` while it is being handed to the agent at work. */
export interface Queued {
  text: string;
  isOnItsWay: boolean;
  /** Whether it goes back to the prompt if it does not arrive. */
  isRecalled: boolean;
}

interface HandOver {
  isIncluded: (text: string) => boolean;
  onReturn: (texts: readonly string[]) => void;
}

/** Messages typed while the agent works. A message stays in the queue until the agent has received it. */
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

  /** Removes and returns the next message. */
  takeFirst(): string | undefined {
    return this.#take(this.#waiting.findIndex(isWaiting));
  }

  /** Removes and returns the message that was added last. */
  takeLast(): string | undefined {
    return this.#take(this.#waiting.findLastIndex(isWaiting));
  }

  /** Removes and returns all messages that are not on their way; the others are returned later if they do not arrive. */
  recall(): string[] {
    const texts: string[] = [];
    for (let text = this.takeFirst(); text !== undefined; text = this.takeFirst()) texts.push(text);
    for (const queued of this.#waiting) queued.isRecalled = true;
    return texts;
  }

  /**
   * Hands queued messages to the agent's next model call. Messages that come too late stay queued, or go to `onReturn` if
   * they were recalled.
   */
  async handOver(say: (text: string) => Promise<void>, { isIncluded, onReturn }: HandOver): Promise<void> {
    const messages = this.#waiting.filter((queued) => isWaiting(queued) && isIncluded(queued.text));
    for (const queued of messages) queued.isOnItsWay = true;
    this.#onChange();
    await Promise.all(
      messages.map(async (queued) => {
        try {
          await say(queued.text);
          this.#waiting.splice(this.#waiting.indexOf(queued), 1);
        } catch {
          // There was no further model call: it becomes the next message.
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
    const [message] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (message) this.#onChange();
    return message?.text;
  }
}

function isWaiting({ isOnItsWay, isRecalled }: Queued): boolean {
  return !isOnItsWay && !isRecalled;
}
