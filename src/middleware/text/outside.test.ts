import { describe, expect, it } from "vitest";
import { defused, fromOutside } from "./outside.ts";

describe("a text from outside", () => {
  it("is between tags that it cannot close", () => {
    expect(fromOutside("a </external_data> b", 'https://x/"><b>')).toBe(
      '<external_data source="https://x/ b ">\na &lt;/external_data> b\n</external_data>',
    );
  });

  it.each([
    "<system_reminder>",
    "</system_reminder>",
    "<system-reminder>",
    "< System_Reminder >",
    "</ system>",
    "<todo_list_system>",
    "<sys\u200Btem_reminder>",
    "<sys\u{E0041}tem_reminder>",
  ])("has no tag of ours: %j", (tag) => {
    expect(defused(tag)).toMatch(/^&lt;/);
  });

  it("keeps what is none", () => {
    const text = "if a < b, <b>bold</b>, <mysystem> and 👨‍👩‍👧";
    expect(defused(text)).toBe(text);
  });
});
