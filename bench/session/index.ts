import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import xterm from "@xterm/headless";
import { countTodos, type Todo } from "../../src/plan/index.ts";
import { shown } from "../../src/surfaces/cli/output/harmless.ts";
import { colourPaint } from "../../src/surfaces/cli/output/paint.ts";
import { LiveDisplay } from "../../src/surfaces/cli/session/display/live-display.ts";
import { History } from "../../src/surfaces/cli/session/prompt/history.ts";
import { RunEvents } from "../../src/threads/run/run-thread.ts";
import { MAIN } from "../../src/threads/view/view.ts";
import { goalOf, type Section, type SectionOptions } from "../section.ts";

const [COLUMNS, ROWS] = [100, 30];
/** So many tokens come between two frames, as from a fast model: 240 in a second. */
const TOKENS_A_FRAME = 8;
/** Of the bytes of a screen that is drawn as a whole. */
const MOST_SHARE = 0.1;

/** How much a session writes to a terminal while an answer streams below which a plan is shown. */
export async function sessionSection({ quick, progress }: SectionOptions): Promise<Section> {
  const tokens = quick ? 500 : 2000;
  progress(`${tokens} tokens on ${COLUMNS}x${ROWS}`);
  const { frames, bytes, whole } = await streamed(tokens);
  const per = (value: number): number => Math.round((value / tokens) * 1000);
  const share = bytes / whole;
  const data = { tokens, frames: per(frames), bytes: per(bytes), whole: per(whole), share };
  return {
    name: "session",
    lines: [
      `session.frames-per-1000-tokens ${data.frames}`,
      `session.bytes-per-1000-tokens ${data.bytes} ${share.toFixed(3)}`,
    ],
    goals: [goalOf({ name: "share of the bytes of drawing everything", value: share, limit: MOST_SHARE })],
    markdown: `## A session on a terminal\n\nAn answer of ${tokens} tokens, ${TOKENS_A_FRAME} of them between two frames, on ${COLUMNS}×${ROWS} with a plan of eight items below it. Per 1,000 tokens a session draws ${data.frames} frames with ${data.bytes} bytes, ${(share * 100).toFixed(1)}% of what drawing the screen as a whole in each of them would take (${data.whole}).\n`,
    data,
    plots: [],
  };
}

async function streamed(tokens: number) {
  const screen = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true, convertEol: true });
  let [frames, bytes, whole] = [0, 0, 0];
  let written = Promise.resolve();
  let onFrame = (): void => {};
  const drawn = async (before: Promise<void>, text: string): Promise<void> => {
    await before;
    await new Promise<void>((resolve) => screen.write(text, resolve));
    whole += screenBytes(screen);
  };
  const write = (text: string): void => {
    frames += 1;
    onFrame();
    bytes += Buffer.byteLength(text);
    written = drawn(written, text);
  };
  const stdout = Object.assign(new EventEmitter(), { columns: COLUMNS, rows: ROWS, isTTY: true, write });
  const display = new LiveDisplay({
    terminal: { stdin: new PassThrough(), stdout } as unknown as ConstructorParameters<
      typeof LiveDisplay
    >[0]["terminal"],
    paint: colourPaint,
    history: new History(join(tmpdir(), "no-such-holdfast-history")),
    commands: () => [],
    files: () => [],
  });
  display.open({
    submit: () => {},
    steer: () => {},
    stop: () => {},
    quit: () => {},
    nextMode: () => {},
    pastedImage: () => Promise.resolve(undefined),
    unfold: () => {},
    unqueue: () => undefined,
  });
  const events = new RunEvents("bench", (event, view) => display.show(event, view));
  display.status({ isBusy: true, queue: [], footer: shown`ask (shift-tab) · model · ~/project` });
  events.emit({ type: "run-start", model: "model", resumed: false });
  events.emit({
    type: "plan-change",
    owner: MAIN,
    by: "model",
    changes: [],
    counts: countTodos(PLAN),
    todos: PLAN,
  });
  events.emit({ type: "model-start", owner: MAIN });
  const say = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += TOKENS_A_FRAME) {
      const drawing = new Promise<void>((resolve) => {
        onFrame = resolve;
      });
      for (let one = at; one < at + TOKENS_A_FRAME; one++)
        events.emit({ type: "text", owner: MAIN, text: wordAt(one) });
      await drawing;
    }
  };
  // Until the screen is full.
  await say(0, FIRST);
  await written;
  [frames, bytes, whole] = [0, 0, 0];
  await say(FIRST, FIRST + tokens);
  await display.close();
  await written;
  return { frames, bytes, whole };
}

/** A multiple of what is between two frames, and of what the text repeats. */
const FIRST = 480;

const PLAN: Todo[] = Array.from({ length: 8 }, (_, at) => ({
  id: String(at + 1),
  content: `Work on part ${at + 1} of what was asked for`,
  status: at === 2 ? "in_progress" : at < 2 ? "completed" : "pending",
}));

/** Prose with a paragraph, a list and code now and then. */
function wordAt(at: number): string {
  const place = at % 120;
  if (place === 0) return "\n\n## A heading\n\n";
  if (place > 80 && place < 100) return place % 6 === 0 ? "\n- an item " : "of it ";
  if (place === 100) return "\n\n```ts\nconst ";
  if (place === 119) return "\n```\n";
  return place > 100 ? `value${place} = ${at};\n` : place % 40 === 39 ? "end.\n\n" : "word ";
}

/** What it takes to write a screen: each row with a code wherever the colours change, its rest cleared, and the next. */
function screenBytes({ buffer, rows }: xterm.Terminal): number {
  const { active } = buffer;
  let bytes = HOME.length;
  for (let row = 0; row < rows; row++) {
    const line = active.getLine(active.baseY + row);
    const text = line?.translateToString(true) ?? "";
    bytes += Buffer.byteLength(text) + NEXT_ROW.length;
    let style = "";
    for (let column = 0; column < text.length; column++) {
      const cell = line!.getCell(column)!;
      const next = `${cell.getFgColor()} ${cell.isBold()} ${cell.isDim()} ${cell.isUnderline()}`;
      if (next !== style) bytes += COLOUR_BYTES;
      style = next;
    }
  }
  return bytes;
}

/** `\u001B[2m`, or the shortest that ends it. */
const COLOUR_BYTES = 4;
const [HOME, NEXT_ROW] = ["\u001B[H", "\u001B[K\r\n"];
