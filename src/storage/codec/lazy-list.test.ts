import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { lazyList } from "./lazy-list.ts";

const three = (): unknown[] => [{ n: 1 }, { n: 2 }, { n: 3 }];

describe("a lazy list", () => {
  it("is created once, when an item is first read", () => {
    let times = 0;
    const list = lazyList(3, () => {
      times += 1;
      return three();
    });
    expect([Array.isArray(list), list.length, 1 in list, Object.keys(list)]).toEqual([
      true,
      3,
      true,
      ["0", "1", "2"],
    ]);
    const state = { messages: list };
    expect({ ...state, messages: [] }).toEqual({ messages: [] });
    expect(times).toBe(0);
    expect(list[1]).toBe(list.at(1));
    expect([...list]).toEqual(three());
    expect(times).toBe(1);
  });

  it("is copied, changed, printed and sent like any array", () => {
    const create = (): unknown[] => lazyList(3, three);
    expect(create()).toEqual(three());
    expect(JSON.stringify(create())).toBe(JSON.stringify(three()));
    expect(structuredClone(create())).toEqual(three());
    expect(inspect(create())).toBe(inspect(three()));
    expect([0, ...create().slice(1), ...create().concat(4)]).toEqual([0, ...three().slice(1), ...three(), 4]);
    for (const change of [
      (list: unknown[]) => list.push(4),
      (list: unknown[]) => list.pop(),
      (list: unknown[]) => list.shift(),
      (list: unknown[]) => list.unshift(0),
      (list: unknown[]) => list.splice(1, 1, "a", "b"),
      (list: unknown[]) => list.copyWithin(0, 1),
      (list: unknown[]) => (list[1] = "other"),
      (list: unknown[]) => (list.length = 1),
      (list: unknown[]) => list.fill(0, 1),
    ]) {
      const [one, other] = [create(), three()];
      expect(change(one)).toEqual(change(other));
      expect(one).toEqual(other);
    }
  });

  it("does not share its items with another list", () => {
    const [one, other] = [lazyList(3, three), lazyList(3, three)];
    one[0] = "changed";
    expect(other[0]).toEqual({ n: 1 });
  });
});
