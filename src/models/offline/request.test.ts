import { expect, it } from "vitest";
import { asksForSurvey, folderIn } from "./request.ts";

it.each([
  ["Survey this directory", "/"],
  ["survey", "/"],
  ["Survey this directory, please", "/"],
  ["Survey this directory please", "/"],
  ["Survey the current directory and write TODO/FIXME lines down", "/"],
  ["Survey .", "/"],
  ["Survey ./", "/"],
  ["survey /src", "/src"],
  ["Survey src/files/.", "/src/files"],
  ["Please survey the folder src/", "/src"],
  ["Survey the folder src.", "/src"],
  ["Survey the src folder, please", "/src"],
  ["Survey the whole directory", "/"],
  ["Survey of the directory `my files/a b`", "/my files/a b"],
  ['Survey "docs"', "/docs"],
  ["I want you surveying .github!", "/.github"],
  ["Survey /a/b: what is there?", "/a/b"],
])("%s names the folder %s", (request, folder) => {
  expect(asksForSurvey(request)).toBe(true);
  expect(folderIn(request)).toBe(folder);
});

it.each(["hello", "Write a test", "What does the surveyor do?"])("%s asks for no survey", (request) => {
  expect(asksForSurvey(request)).toBe(false);
});
