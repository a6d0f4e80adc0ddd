import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { mention, withImages } from "./named-images.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");
const sees = { profile: { imageInputs: true } };
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-images-"));
  writeFileSync(join(dir, "shot.png"), PNG);
  writeFileSync(join(dir, "my shot.PNG"), PNG);
  writeFileSync(join(dir, "not.png"), "words");
});
afterAll(() => rmSync(dir, { recursive: true }));

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } };

it.each([
  ["@shot.png", () => "What is on @shot.png?"],
  ["a dropped path", () => `${dir}/shot.png what is this`],
  ["a path in quotes", () => `see '${dir}/my shot.PNG'`],
  ["a path with escaped spaces", () => `see ${dir}/my\\ shot.PNG.`],
  ["@ and a path in quotes", () => 'see @"my shot.PNG", please'],
  ["what names a path with spaces", () => `see ${mention(join(dir, "my shot.PNG"))} `],
  ["an address", () => `see ${pathToFileURL(join(dir, "shot.png")).href}`],
])("Holdfast attaches an image that the text names by %s", async (_, text) => {
  const { content, notes } = await withImages(text(), { dir, model: sees });
  expect(content).toEqual([{ type: "text", text: text() }, image]);
  expect(notes).toEqual([expect.stringMatching(/shot\.(?:png|PNG) goes along/)]);
});

it.each([
  ["@ and a path", (path: string) => `see @${path}.`],
  ["what names it", (path: string) => `see ${mention(path)} `],
  ["a dropped path", (path: string) => path],
])("Holdfast attaches an image named with backslashes by %s on Windows", async (_, text) => {
  const path = "C:\\Users\\me\\shot.png";
  writeFileSync(join(dir, path), PNG);
  const { content } = await withImages(text(path), { dir, model: sees, platform: "win32" });
  expect(content).toEqual([{ type: "text", text: text(path) }, image]);
});

it("Holdfast leaves text alone that names no image, a missing image or other words", async () => {
  for (const text of [
    "@not.png",
    "@gone.png",
    "file://host/shot.png",
    "file:///%zz.png",
    "shot.png is broken",
    "mail me@shot.png",
  ]) {
    expect(await withImages(text, { dir, model: sees })).toEqual({ content: text, notes: [] });
  }
});

it("says so where the model cannot look at it", async () => {
  const { content, notes } = await withImages("@shot.png", { dir, model: {} });
  expect(content).toBe("@shot.png");
  expect(notes).toEqual([
    "shot.png: image/png, 10 bytes. The model cannot look at it: only text can be read here.",
  ]);
});
