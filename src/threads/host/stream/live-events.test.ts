import { expect, it } from "vitest";
import { LiveEvents, type StampedEvent } from "./live-events.ts";

it("a late reader gets the newest output of a running command, none of an ended one", () => {
  const head = { version: 1, at: 0, thread: "t", owner: "main" } as const;
  const live = new LiveEvents();
  const push = (...events: StampedEvent[]): void => events.forEach((event) => live.push(event));
  const command = (call: string) => ({ ...head, call, name: "execute", about: "" }) as const;
  const output = (call: string, text: string) => ({ ...head, call, type: "tool-output", text }) as const;
  push({ ...command("a"), type: "tool-start" }, { ...command("b"), type: "tool-start" });
  push(output("a", "1"), output("b", "x"), output("a", "2"));
  const last = (): string[] =>
    live.all().flatMap((event) => (event.type === "tool-output" ? `${event.call} ${event.text}` : []));
  expect(last()).toEqual(["b x", "a 2"]);
  push({ ...command("b"), type: "tool-end", ok: true, result: "xy" });
  expect(last()).toEqual(["a 2"]);
});
