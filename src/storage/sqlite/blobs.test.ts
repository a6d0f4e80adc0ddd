import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Blobs } from "./blobs.ts";
import type { Connection } from "./database/connection.ts";
import { openDatabase } from "./file/open.ts";

let connection: Connection;
beforeEach(async () => void (connection = await openDatabase(":memory:")));
afterEach(() => connection.close());

describe("a batch of blobs", () => {
  it("is read as written, with any content", () => {
    const bodies = [
      "",
      "\n",
      "a\nb",
      "ä€😀",
      "\0",
      "x".repeat(70_000),
      '{"lc":1}',
      Buffer.from([0, 10, 255]),
    ];
    const writer = new Blobs(connection);
    const ids = bodies.map((body) => writer.put(1, typeof body === "string" ? "json" : "bytes", body));
    const read = new Blobs(connection).read(1, ids);
    expect(ids.map((id) => Buffer.from(read.get(id)!.body!))).toEqual(
      bodies.map((body) => Buffer.from(body)),
    );
    expect(ids.map((id) => read.get(id)!.kind)).toEqual([...Array<string>(7).fill("json"), "bytes"]);
  });

  it.each([
    ["body = 'x'"],
    ["body = CAST(body || 'x' AS BLOB)"],
    ["body = x''"],
    ["body = zeroblob(70000)"],
    ["kind = 'tree'"],
    ["kind = ''"],
    // The same bytes, cut in another place.
    [`kind = kind || char(10) || 'second', body = x''`],
    ["thread = 2"],
    ["thread = 'x'"],
    ["hash = zeroblob(16)"],
    ["hash = substr(hash, 1, 15)"],
    ["hash = hash || seal"],
    ["seal = zeroblob(8)"],
    ["seal = x''"],
    ["id = 9"],
  ])("is refused when a column of one blob was changed: %s", (change) => {
    const writer = new Blobs(connection);
    const ids = ["first", "second", "third"].map((body) => writer.put(1, "json", body));
    connection.exec(`UPDATE blobs SET ${change} WHERE id = 2`);
    expect(() => new Blobs(connection).read(1, ids)).toThrow(
      /blob \d is missing|does not match its checksum/,
    );
  });
});
