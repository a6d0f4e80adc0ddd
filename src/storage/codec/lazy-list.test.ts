import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { madeLater } from "./lazy-list.ts";

const three = (): unknown[] => [{ n: 1 }, { n: 2 }, { n: 3 }];

describe("a list that is made later", () => {
  it("is made when an item is first looked at, once, and not before", () => {
    let times = 0;
    const list = madeLater(3, () => {
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

  it("is an array like any other to whoever copies, changes, shows or sends it", () => {
    const made = (): unknown[] => madeLater(3, three);
    expect(made()).toEqual(three());
    expect(JSON.stringify(made())).toBe(JSON.stringify(three()));
    expect(structuredClone(made())).toEqual(three());
    expect(inspect(made())).toBe(inspect(three()));
    expect([0, ...made().slice(1), ...made().concat(4)]).toEqual([0, ...three().slice(1), ...three(), 4]);
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
      const [one, other] = [made(), three()];
      expect(change(one)).toEqual(change(other));
      expect(one).toEqual(other);
    }
  });

  it("has items of its own", () => {
    const [one, other] = [madeLater(3, three), madeLater(3, three)];
    one[0] = "changed";
    expect(other[0]).toEqual({ n: 1 });
  });
});
