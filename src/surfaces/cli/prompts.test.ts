import { PassThrough, Writable } from "node:stream";
import { expect, it } from "vitest";
import { shown } from "./output/harmless.ts";
import { choose, dropTyped } from "./prompts.ts";
import type { Terminal } from "./terminal.ts";

it("keys typed before a question do not answer it", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  let screen = "";
  const write = (chunk: Buffer, _: string, done: () => void): void => {
    screen += String(chunk);
    // The answer comes when the choice has moved to it.
    if (screen.includes("● No")) stdin.write("\r");
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { isTTY: true, columns: 80, rows: 24 });
  const terminal = { stdin, stdout } as unknown as Terminal;
  stdin.write("\r");
  await dropTyped(terminal);
  const answer = choose(
    shown`Do you trust it?`,
    [
      { value: "yes", label: shown`Yes` },
      { value: "no", label: shown`No` },
    ],
    terminal,
  );
  stdin.write("\u001B[B");
  expect(await answer).toBe("no");
});
