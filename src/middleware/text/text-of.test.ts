import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it, vi } from "vitest";
import { textOf } from "./text-of.ts";

it("textOf returns a string content as it is, and joins the texts of blocks", () => {
  const plain = new HumanMessage("Hello");
  const blocks = vi.spyOn(plain as BaseMessage, "contentBlocks", "get");
  expect(textOf(plain)).toBe("Hello");
  expect(blocks).not.toHaveBeenCalled();
  const parts = ["Hello, ", "you."].map((text) => ({ type: "text" as const, text }));
  expect(textOf(new HumanMessage({ content: parts }))).toBe("Hello, you.");
});
