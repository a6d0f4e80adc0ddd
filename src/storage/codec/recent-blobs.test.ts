import { expect, it } from "vitest";
import { Recent, type Blob } from "./recent-blobs.ts";

function blob(thread: number, size = 100): Blob {
  return { thread, kind: "json", size, body: "" };
}

it("blobs of the threads that were last used are kept, and of no others, however small", () => {
  const recent = new Recent();
  for (let thread = 1; thread <= 1000; thread += 1) {
    recent.add(thread, blob(thread));
    // One that is read in between stays.
    expect(recent.get(1)).toBeDefined();
  }
  expect(recent.count).toBeLessThan(2 * 130);
  expect(recent.get(1000)).toBeDefined();
  expect(recent.get(900)).toBeDefined();
  expect(recent.get(500)).toBeUndefined();
});

it("many small blobs of one thread are bounded by what they take, not by their text", () => {
  const recent = new Recent();
  for (let id = 0; id < 200_000; id += 1) recent.add(id, blob(1, 10));
  expect(recent.count).toBeLessThan(80_001);
  expect(recent.get(199_999)).toBeDefined();
});

it("blobs that are kept with another one count with it, and go with it", () => {
  const recent = new Recent();
  const add = (chunk: number): void => {
    const parts = [1, 2, 3].map((nth) => chunk + nth);
    const messages = parts.map(() => blob(1, 1_000_000));
    for (const [nth, message] of messages.entries()) recent.add(parts[nth]!, message);
    recent.add(chunk, { ...blob(1), parts });
    recent.gather(chunk, parts, { messages, texts: [] });
  };
  for (let chunk = 0; chunk < 400; chunk += 10) {
    add(chunk);
    expect(recent.get(chunk)!.gathered!.messages).toHaveLength(3);
    expect(recent.get(chunk + 1)).toBeUndefined();
  }
  expect(recent.count).toBeLessThan(13);
  // What is too much for one is kept as it was.
  const large = [501, 502].map((id) => ({ id, message: blob(1, 5_000_000) }));
  for (const { id, message } of large) recent.add(id, message);
  recent.add(500, { ...blob(1), parts: [501, 502] });
  recent.gather(500, [501, 502], { messages: large.map(({ message }) => message), texts: [] });
  expect(recent.get(500)!.gathered).toBeUndefined();
  expect(recent.get(501)).toBeDefined();
  expect(recent.get(200)).toBeUndefined();
});
