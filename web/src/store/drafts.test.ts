import { expect, it } from "vitest";
import { Drafts } from "./drafts.ts";

/** The storage of a tab: its entries are its own properties, as in a browser. */
class TabStorage {
  getItem(name: string): string | null {
    return (this as unknown as Record<string, string>)[name] ?? null;
  }
  setItem(name: string, text: string): void {
    if (text.includes("no room")) throw new Error("QuotaExceededError");
    Object.assign(this, { [name]: text });
  }
  removeItem(name: string): void {
    delete (this as unknown as Record<string, string>)[name];
  }
}

it("keeps drafts in the storage of the tab, by thread, until they are forgotten", () => {
  const tab = new TabStorage() as unknown as Storage;
  const drafts = new Drafts(tab);
  drafts.keep("a", "task", "And then");
  drafts.keep("a", "images", "x".repeat(300_000));
  drafts.keep("b", "plan", { mine: [] });
  drafts.keep(undefined, "task", "no room");
  expect(drafts.get(undefined, "task")).toBe("no room");
  const reloaded = new Drafts(tab);
  expect(reloaded.get("a", "task")).toBe("And then");
  expect(reloaded.get("a", "images")).toBeUndefined();
  expect(reloaded.get("b", "plan")).toEqual({ mine: [] });
  reloaded.forget("a", "");
  expect(new Drafts(tab).get("a", "task")).toBeUndefined();
  expect(new Drafts(tab).get("b", "plan")).toEqual({ mine: [] });
});
