import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { preview } from "./offload.ts";

describe("preview", () => {
  it("shows a short text whole", () => {
    expect(preview("short", { limit: 5, path: "/full.txt" })).toBe("short");
  });

  it("shows head and tail of a long one, and says where the rest is", () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
    const shown = preview(text, { limit: 90, path: "/results/1.txt" });
    expect(shown).toMatch(
      /^line 0\n[^]*\n\[\d+ of 789 characters left out\. The full text is in "\/results\/1\.txt"\.\]\n[^]*line 99$/,
    );
  });

  it("is a head, one note and a tail of the text, within the limit", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\n", "🎉", " "), maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 100 }), (full, limit) => {
        fc.pre(full.length > limit);
        const shown = preview(full, { limit, path: "/f" });
        const [head = "", tail = ""] = shown.split(/\n?\[\d+ of \d+ characters left out\..*\]\n?/);
        expect(full.startsWith(head)).toBe(true);
        expect(full.endsWith(tail)).toBe(true);
        expect(head.length + tail.length).toBeLessThanOrEqual(limit + 2);
        expect(/\p{Cs}/u.test(shown)).toBe(false);
      }),
    );
  });
});
