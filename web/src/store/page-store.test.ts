import { expect, it } from "vitest";
import type { Api } from "../client/api.ts";
import { PageStore } from "./page-store.ts";

it("a search makes one request at a time, and shows the result of the last words", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const threads: Api["threads"] = async ({ query = "" }) => {
    asked.push(query);
    await new Promise<void>((resolve) => answers.push(resolve));
    const todos = { done: 0, total: 0 };
    return { threads: [{ id: query, createdAt: 1, updatedAt: 1, todos, status: "done" }], more: false };
  };
  const store = new PageStore({ threads } as Api);
  const searching = store.search("d");
  for (const words of ["do", "doc", "docs"]) void store.search(words);
  expect(asked).toEqual(["d"]);
  answers.shift()!();
  await expect.poll(() => asked).toEqual(["d", "docs"]);
  answers.shift()!();
  await searching;
  expect(store.state.threads?.map(({ id }) => id)).toEqual(["docs"]);
});
