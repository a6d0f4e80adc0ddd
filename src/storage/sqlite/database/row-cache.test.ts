import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Connection } from "./connection.ts";

let folder: string;
let connection: Connection;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-known-"));
  connection = await Connection.open(join(folder, "words.db"));
  connection.all("PRAGMA store.journal_mode = WAL");
  connection.exec("CREATE TABLE store.words (word TEXT); INSERT INTO words VALUES ('one')");
});

afterEach(() => {
  connection.close();
  rmSync(folder, { recursive: true });
});

it("a row is read once until another connection changes the file", async () => {
  let reads = 0;
  const word = (): unknown => {
    const found = connection.rowCache.get("word", () => {
      reads += 1;
      return connection.get("SELECT word FROM words");
    });
    return found?.["word"];
  };
  expect(connection.transaction(word)).toBe("one");
  expect(connection.transaction(word)).toBe("one");
  expect(connection.snapshot(word)).toBe("one");
  expect(reads).toBe(1);
  const other = await Connection.open(connection.path);
  other.run("UPDATE words SET word = 'two'");
  expect(connection.snapshot(word)).toBe("two");
  other.run("UPDATE words SET word = 'three'");
  expect(connection.transaction(word)).toBe("three");
  other.close();
  // Nobody can say whether it still holds.
  expect(word()).toBe("three");
  expect(reads).toBe(4);
});

it("a rollback clears the rows of its transaction", () => {
  const word = (): unknown =>
    connection.rowCache.get("word", () => connection.get("SELECT word FROM words")?.["word"]);
  const write = (): never => {
    connection.run("UPDATE words SET word = 'two'");
    connection.rowCache.set("word", "two");
    throw new Error("No.");
  };
  expect(() => connection.transaction(write)).toThrow("No.");
  expect(connection.transaction(word)).toBe("one");
});

it("the cache is bounded", () => {
  connection.transaction(() => {
    for (let n = 0; n < 10_000; n += 1) connection.rowCache.set(String(n), n);
    expect(connection.rowCache.get("0", () => "read again")).toBe("read again");
  });
});
