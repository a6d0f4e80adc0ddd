import { expect, it } from "vitest";
import { BlobCache, type Blob } from "./blob-cache.ts";

function blob(thread: number, size = 100): Blob {
  return { thread, kind: "json", size, body: "" };
}

it("only blobs of the last used threads are cached, however small", () => {
  const cache = new BlobCache();
  for (let thread = 1; thread <= 1000; thread += 1) {
    cache.add(thread, blob(thread));
    // One that is read in between stays.
    expect(cache.get(1)).toBeDefined();
  }
  expect(cache.count).toBeLessThan(2 * 130);
  expect(cache.get(1000)).toBeDefined();
  expect(cache.get(900)).toBeDefined();
  expect(cache.get(500)).toBeUndefined();
});

it("the cache is bounded by the memory of small blobs, not by their text", () => {
  const cache = new BlobCache();
  for (let id = 0; id < 200_000; id += 1) cache.add(id, blob(1, 10));
  expect(cache.count).toBeLessThan(80_001);
  expect(cache.get(199_999)).toBeDefined();
});

it("the contents of a chunk count with it, and are evicted with it", () => {
  const cache = new BlobCache();
  const add = (chunk: number): void => {
    const parts = [1, 2, 3].map((nth) => chunk + nth);
    const messages = parts.map(() => blob(1, 1_000_000));
    for (const [nth, message] of messages.entries()) cache.add(parts[nth]!, message);
    cache.add(chunk, { ...blob(1), parts });
    cache.keepContents(chunk, parts, { messages, texts: [] });
  };
  for (let chunk = 0; chunk < 400; chunk += 10) {
    add(chunk);
    expect(cache.get(chunk)!.contents!.messages).toHaveLength(3);
    expect(cache.get(chunk + 1)).toBeUndefined();
  }
  expect(cache.count).toBeLessThan(13);
  // What is too much for one is kept as it was.
  const large = [501, 502].map((id) => ({ id, message: blob(1, 5_000_000) }));
  for (const { id, message } of large) cache.add(id, message);
  cache.add(500, { ...blob(1), parts: [501, 502] });
  cache.keepContents(500, [501, 502], { messages: large.map(({ message }) => message), texts: [] });
  expect(cache.get(500)!.contents).toBeUndefined();
  expect(cache.get(501)).toBeDefined();
  expect(cache.get(200)).toBeUndefined();
});
