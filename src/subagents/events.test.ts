import { describe, expect, it } from "vitest";
import { labelOf, titleOf } from "./events.ts";

const task = (id: string, args: object) => ({ id, name: "task", args });
const readers = (...descriptions: string[]) =>
  descriptions.map((description, at) => task(`c${at}`, { subagent_type: "reader", description }));

describe("the title of a task", () => {
  it("is the given one", () => {
    const turn = [task("c0", { title: "Borva", subagent_type: "reader", description: "Read /borva" })];
    expect(titleOf("c0", turn)).toBe("Borva");
  });

  it("is made of the description where the sub-agent's name says nothing of the task", () => {
    expect(titleOf("c0", readers("Read /borva and return its depth."))).toBe(
      "Read /borva and return its depth.",
    );
    expect(titleOf("c0", [task("c0", { subagent_type: "judge", description: "Judge it" })])).toBeUndefined();
    expect(labelOf("reader", "Read /borva: its depth.")).toBe("Read borva its depth.");
  });

  it("is the text before a colon", () => {
    const turn = readers("Leftover markers: look through src for them.", "Dead links: follow each in docs.");
    expect(turn.map(({ id }) => titleOf(id, turn))).toEqual(["Leftover markers", "Dead links"]);
    const alike = readers("Task: read /borva", "Task: read /cinder");
    expect(alike.map(({ id }) => titleOf(id, alike))).toEqual(["borva", "cinder"]);
  });

  it("starts where descriptions of one turn differ, so that each title is unique", () => {
    const names = ["borva", "cinder", "dunmore", "eskel", "farrow", "gannet"];
    const turn = readers(
      ...names.map((name) => `Read /reefs/${name}/log.md and return the depth of ${name}.`),
    );
    expect(turn.map(({ id }) => labelOf("reader", titleOf(id, turn)))).toEqual(names);
    expect(titleOf("c0", readers("Read it.", "Read it."))).toBe("Read it.");
    const unlike = readers("Count the beds of all six huts", "Draw a map");
    expect(unlike.map(({ id }) => titleOf(id, unlike))).toEqual(["Count the beds of", "Draw a map"]);
  });
});
