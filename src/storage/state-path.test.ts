import { expect, it } from "vitest";
import { defaultStatePath } from "./state-path.ts";

it.each([
  ["linux", { HOME: "/home/a" }, "/home/a/.local/state/holdfast/threads.db"],
  ["linux", { HOME: "/home/a", XDG_STATE_HOME: "/data" }, "/data/holdfast/threads.db"],
  ["linux", { HOME: "/home/a", XDG_STATE_HOME: "data" }, "/home/a/.local/state/holdfast/threads.db"],
  ["darwin", { HOME: "/Users/a" }, "/Users/a/Library/Application Support/holdfast/threads.db"],
  ["win32", { LOCALAPPDATA: "C:\\Local" }, "C:\\Local\\holdfast\\threads.db"],
  ["win32", { USERPROFILE: "C:\\Users\\a" }, "C:\\Users\\a\\AppData\\Local\\holdfast\\threads.db"],
] as const)("on %s with %o threads are in %s", (platform, env, path) => {
  expect(defaultStatePath(env, platform)).toBe(path);
});
