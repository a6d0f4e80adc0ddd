import type { RunEvent } from "../../../../threads/events/index.ts";
import type { RunView } from "../../../../threads/view/index.ts";
import { joined, oneLine, shown, type Harmless, plainPaint } from "../../output/index.ts";
import { readLines } from "../../prompts.ts";
import type { Terminal } from "../../terminal.ts";
import { linesOf } from "../../view/index.ts";
import { choiceFor, choiceLine, Questions } from "../prompt/questions.ts";
import type { DisplayAnswer, DisplayQuestion, Display, Status, SessionActions } from "./display.ts";

/** A session in plain lines, for screen readers and dumb terminals. */
export class PlainDisplay implements Display {
  readonly #terminal: Terminal;
  #actions: SessionActions | undefined;
  #stopReading = (): void => {};
  readonly #questions = new Questions((question) => this.#print(question));
  #isBusy = false;
  #draft = "";
  readonly #onSignal = (): void => {
    this.dismiss();
    if (this.#isBusy) this.#actions?.stop();
    else this.#actions?.quit();
  };

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  open(actions: SessionActions): void {
    this.#actions = actions;
    process.on("SIGINT", this.#onSignal);
    this.#read();
  }

  print(lines: readonly Harmless[]): void {
    if (lines.length > 0) this.#terminal.stdout.write(shown`${joined(lines, "\n")}\n`);
  }

  show(event: RunEvent, view: RunView): void {
    // `ask` prints questions, with their choices.
    if (event.type !== "question") this.print(linesOf(event, view, plainPaint));
  }

  status({ isBusy }: Status): void {
    const wasBusy = this.#isBusy;
    this.#isBusy = isBusy;
    if (!isBusy && (wasBusy || this.#draft === "")) this.#terminal.stdout.write(shown`> `);
    this.#draft = " ";
  }

  ask(question: DisplayQuestion): Promise<DisplayAnswer> {
    return this.#questions.ask(question);
  }

  dismiss(): void {
    this.#questions.dismiss();
  }

  draft(text: string): void {
    this.print([shown`Your message was: ${oneLine(text)}`]);
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#stopReading();
    try {
      return await work();
    } finally {
      this.#read();
    }
  }

  async close(): Promise<void> {
    process.off("SIGINT", this.#onSignal);
    this.#stopReading();
  }

  #read(): void {
    const onEnd = (): void => this.#actions?.quit();
    this.#stopReading = readLines(this.#terminal, (line) => this.#take(line.trim()), onEnd);
  }

  #print({ about, question, choices, words }: DisplayQuestion): void {
    this.print([...about, question, ...choices.map((choice, at) => shown`  ${choiceLine(choice, at)}`)]);
    this.#terminal.stdout.write(shown`${words ?? shown`its number`} > `);
  }

  #take(line: string): void {
    const { open } = this.#questions;
    const choice = open && choiceFor(open, line);
    if (!open) {
      if (line !== "") this.#actions?.submit(line);
      else if (this.#isBusy) this.#actions?.steer();
    } else if (choice) this.#questions.answer({ value: choice.value });
    else if (line !== "" && open.words) this.#questions.answer({ words: line });
    else this.#terminal.stdout.write(shown`its number > `);
  }
}
