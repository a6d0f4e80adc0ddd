import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import xterm from "@xterm/headless";
import { expect, it } from "vitest";
import { RunEvents } from "../../../../threads/run/run-thread.ts";
import { MAIN } from "../../../../threads/view/view.ts";
import { shown } from "../../output/harmless.ts";
import { plainPaint } from "../../output/paint.ts";
import { History } from "../prompt/history.ts";
import { LiveDisplay, type LiveDisplayOptions } from "./live-display.ts";

const TOKENS = 50_000;
const AT_ONCE = 1000;

it("a stream of 50,000 tokens loses no text, shows typing at once, and writes little", async () => {
  const screen = new xterm.Terminal({
    cols: 80,
    rows: 24,
    scrollback: 20_000,
    allowProposedApi: true,
    convertEol: true,
  });
  let [frames, bytes] = [0, 0];
  let written = Promise.resolve();
  let onFrame = (): void => {};
  const drawn = async (before: Promise<void>, text: string): Promise<void> => {
    await before;
    await new Promise<void>((resolve) => screen.write(text, resolve));
  };
  const write = (text: string): void => {
    frames += 1;
    bytes += Buffer.byteLength(text);
    written = drawn(written, text);
    onFrame();
  };
  const stdin = new PassThrough();
  const stdout = Object.assign(new EventEmitter(), { columns: 80, rows: 24, isTTY: true, write });
  const display = new LiveDisplay({
    terminal: { stdin, stdout } as unknown as LiveDisplayOptions["terminal"],
    paint: plainPaint,
    history: new History(join(tmpdir(), "no-such-holdfast-history")),
    commands: () => [],
    files: () => [],
  });
  const none = (): undefined => undefined;
  display.open({
    submit: none,
    steer: none,
    stop: none,
    quit: none,
    nextMode: none,
    pastedImage: () => Promise.resolve(undefined),
    unfold: none,
    unqueue: none,
  });
  const events = new RunEvents("t", (event, view) => display.show(event, view));
  display.status({ isBusy: true, queue: [], footer: shown`footer` });
  events.emit({ type: "run-start", model: "m", resumed: false });
  events.emit({ type: "model-start", owner: MAIN });

  const words = Array.from({ length: TOKENS }, (_, at) => `word${at}`);
  let typed = "";
  for (let at = 0; at < TOKENS; at += AT_ONCE) {
    for (const [more, word] of words.slice(at, at + AT_ONCE).entries())
      events.emit({ type: "text", owner: MAIN, text: more % 50 === 49 ? `${word}\n\n` : `${word} ` });
    typed += String.fromCodePoint(97 + ((at / AT_ONCE) % 26));
    stdin.write(typed.at(-1)!);
    await new Promise<void>((resolve) => {
      onFrame = resolve;
    });
    await written;
    expect(prompt(screen)).toBe(`> ${typed}`);
  }
  events.emit({
    type: "model-end",
    owner: MAIN,
    text: "",
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  });
  await display.close();
  await written;

  expect(everything(screen).match(/word\d+/g)).toEqual(words);
  const size = words.join(" ").length;
  expect(bytes).toBeLessThan(size * 1.5);
  expect(frames).toBeLessThan(3 * (TOKENS / AT_ONCE));
});

function rows({ buffer }: xterm.Terminal, from: number): string[] {
  const { active } = buffer;
  return Array.from(
    { length: active.length - from },
    (_, at) => active.getLine(from + at)?.translateToString(true) ?? "",
  );
}

function prompt(screen: xterm.Terminal): string | undefined {
  return rows(screen, screen.buffer.active.baseY).find((row) => row.startsWith("> "));
}

function everything(screen: xterm.Terminal): string {
  return rows(screen, 0).join("\n");
}
