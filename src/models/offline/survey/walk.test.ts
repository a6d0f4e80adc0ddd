import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { AT_ONCE, readConversation } from "../conversation.ts";
import { placesOf } from "./places.ts";
import { walk, type Listing } from "./walk.ts";

/** Lists a directory, given as the entries of its folders, to the end. */
function walked(folders: Record<string, string>): { listing: Listing; turns: string[][] } {
  const messages: BaseMessage[] = [new HumanMessage("survey")];
  const turns: string[][] = [];
  for (;;) {
    const listing = walk(readConversation(messages), "/");
    if (listing.next.length === 0) return { listing, turns };
    const tool_calls = listing.next.map((call, at) => ({ ...call, id: `${turns.length}-${at}` }));
    turns.push(listing.next.map(({ args }) => String(args["path"])));
    messages.push(new AIMessage({ content: "", tool_calls }));
    for (const { args, id } of tool_calls) {
      const content = folders[String(args["path"])] ?? "(empty)";
      const status = content.startsWith("Error") ? "error" : "success";
      messages.push(new ToolMessage({ content, tool_call_id: id, status }));
    }
  }
}

it("lists one top-level folder after the other, and names what it does not go into", () => {
  const { listing, turns } = walked({
    "/": "/a/\n/b/\n/dist/\n/f.ts\t3",
    "/a": "/a/x/\n/a/y/\n/a/node_modules/",
    "/a/x": "/a/x/g.ts\t5\n/a/x/no size",
    "/b": 'Error: "/b" is locked. Try again.',
  });
  expect(turns).toEqual([["/"], ["/a"], ["/a/x", "/a/y"], ["/b"]]);
  expect(listing).toMatchObject({
    files: [
      { path: "/a/x/g.ts", size: 5 },
      { path: "/a/x/no size", size: undefined },
      { path: "/f.ts", size: 3 },
    ],
    folders: ["/", "/a", "/a/x", "/a/y"],
    leftOut: ["/dist", "/a/node_modules"],
    failed: [{ folder: "/b", reason: '"b" is locked' }],
    unlisted: [],
  });
});

it("stops at a budget and says where", () => {
  const tops = Array.from({ length: 300 }, (_, at) => `/top${at}`);
  const inner = (top: string): string =>
    Array.from({ length: 40 }, (_, at) => `${top}/a file with a rather long name ${at}.ts\t1`).join("\n");
  const { listing, turns } = walked({
    "/": tops.map((top) => `${top}/`).join("\n"),
    ...Object.fromEntries(tops.map((top) => [top, inner(top)])),
  });
  expect(listing.files.length).toBeGreaterThan(2000);
  expect(listing.files.length / 40 + listing.unlisted.length).toBe(tops.length);
  expect(listing.unlisted.at(-1)).toBe("/top299");
  expect(Math.max(...turns.map((turn) => turn.length))).toBeLessThanOrEqual(AT_ONCE);
});

it("a list that was cut is not taken for the whole folder", () => {
  const { listing } = walked({ "/": "/a\t1\n[Cut after 100000 of 200000 characters. Use glob.]" });
  expect(listing.unlisted).toEqual(["/"]);
});

it("searches go around what is left out", () => {
  const { listing } = walked({
    "/": "/a/\n/b/\n/c/\n/r\t1",
    "/a": "/a/dist/\n/a/src/\n/a/f\t1",
    "/a/src": "/a/src/g\t1",
    "/b": "/b/node_modules/\n/b/h\t1",
  });
  expect(placesOf(listing)).toEqual([
    { folder: "/", deep: false },
    { folder: "/a", deep: false },
    { folder: "/a/src", deep: true },
    { folder: "/b", deep: true },
  ]);
});

it("a search names no more files than a result holds: big folders are searched part by part", () => {
  const names = (folder: string): string =>
    Array.from({ length: 500 }, (_, at) => `${folder}/a file with a longish name ${at}.ts\t1`).join("\n");
  const { listing } = walked({
    "/": "/big/\n/small/",
    "/big": `/big/a/\n/big/b/\n/big/top.ts\t1`,
    "/big/a": names("/big/a"),
    "/big/b": names("/big/b"),
    "/small": "/small/c.ts\t1",
  });
  expect(placesOf(listing)).toEqual([
    { folder: "/big", deep: false },
    { folder: "/big/a", deep: true },
    { folder: "/big/b", deep: true },
    { folder: "/small", deep: true },
  ]);
});

it("counts what git ignores", () => {
  const { listing } = walked({
    "/": "/a/\n/f\t1\n[2 more with ignored: true.]",
    "/a": "/a/g\t1\n[1 more with ignored: true.]",
  });
  expect(listing).toMatchObject({ ignored: 3, files: [{ path: "/a/g" }, { path: "/f" }] });
});
