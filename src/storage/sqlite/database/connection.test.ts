import { expect, it } from "vitest";
import { Connection, MEMORY } from "./connection.ts";

it("a statement run with all() returns the right row with get()", async () => {
  const connection = await Connection.open(MEMORY);
  connection.exec("CREATE TABLE store.numbers (n INTEGER, word TEXT)");
  connection.exec("INSERT INTO numbers VALUES (1, 'one'), (2, 'two')");
  const sql = "SELECT word FROM numbers WHERE n = ?";
  expect(connection.all(sql, [1])).toMatchObject([{ word: "one" }]);
  expect(connection.get(sql, [2])).toMatchObject({ word: "two" });
  expect(connection.all(sql, [1])).toMatchObject([{ word: "one" }]);
  connection.close();
});
