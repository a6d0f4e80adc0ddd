import { describe, expect, it } from "vitest";
import type { FileBackend } from "../backend/index.ts";
import { stateFiles } from "../backends/state.ts";
import { withPermissions } from "../backends/with-permissions.ts";
import { foldName } from "./fold.ts";
import { compileRules, type PermissionRule } from "./permissions.ts";

const NO_GIT: PermissionRule[] = [{ effect: "deny", paths: "/.git/**" }];
const allows = (rules: PermissionRule[], path: string): boolean =>
  compileRules(rules).check("write", path).allowed;

/** Spellings that a file system takes for `.git`, and how it reads names. */
const FILE_SYSTEMS: [name: string, read: (name: string) => string, spellings: string[]][] = [
  ["that ignores case", (name) => name.toLowerCase(), [".GIT", ".Git", ".giT"]],
  [
    "like HFS+",
    (name) =>
      name
        .normalize("NFD")
        .toLowerCase()
        .replaceAll(/[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/g, ""),
    [
      ".g\u200Cit",
      "\u200D.git",
      ".gi\uFEFFt",
      ".git\u206F",
      ".G\u202EIT",
      "\u200E.\u200Fg\u202Ai\u206At\u200C",
    ],
  ],
  [
    "like Windows",
    (name) => name.toLowerCase().replace(/[. ]+$/, ""),
    [".git.", ".git ", ".GIT. . ", ".git..."],
  ],
  ["with short names", (name) => (/^git~1$/i.test(name) ? ".git" : name), ["GIT~1", "git~1"]],
];

describe("foldName", () => {
  it.each([
    ["README.md", "readme.md"],
    ["Cafe\u0301", "caf\u00E9"],
    ["CAF\u00C9", "caf\u00E9"],
    ["stra\u00DFe", "strasse"],
    ["\u017Fecret", "secret"],
    ["\u212Aey", "key"],
    ["\u039F\u0394\u039F\u03A3", "\u03BF\u03B4\u03BF\u03C3"],
    ["a\u00ADb\u034Fc\u115Fd\uFE0Fe", "abcde"],
    ["secret.\u200B.", "secret"],
    ["\uFF0E\uFF47\uFF49\uFF54", ".git"],
    [".\uFF2D\uFF23\uFF30.json\uFF0E", ".mcp.json"],
    [".\u{1D420}\u24D8t", ".git"],
    ["...", "..."],
    [".github", ".github"],
    ["digit~1", "digit~1"],
  ])("%j is %j", (name, folded) => {
    expect(foldName(name)).toBe(folded);
    expect(foldName(folded)).toBe(folded);
  });
});

describe("a rule that denies", () => {
  it.each(FILE_SYSTEMS.flatMap(([, , spellings]) => spellings))("for /.git covers %j", (name) => {
    expect(name).not.toBe(".git");
    expect(allows(NO_GIT, `/${name}`)).toBe(false);
    expect(allows(NO_GIT, `/${name}/hooks/x`)).toBe(false);
    expect(allows([{ effect: "deny", paths: "**/.git" }], `/sub/${name}/config`)).toBe(false);
    expect(allows([{ effect: "deny", paths: `/${name}` }], "/.git/config")).toBe(false);
  });

  it.each([
    ["/Secrets/**", "/sEcRets/key"],
    ["/caf\u00E9", "/cafe\u0301/a"],
    ["/cafe\u0301", "/caf\u00E9/a"],
    ["**/*.PEM", "/keys/a.pem"],
    ["**/*.pem", "/keys/A.PEM. "],
    ["/[A-Z]*", "/readme"],
    ["/.git/**", "/.\uFF47it/config"],
    ["/a\uFF3Bb/**", "/a[b/c"],
    ["/{Private,Internal}/**", "/INTERNAL /x"],
    ["/a[[:digit:]]", "/A1"],
  ])("for %j covers %j", (paths, path) => {
    expect(allows([{ effect: "deny", paths }], path)).toBe(false);
  });

  it.each([
    ["/.git/**", "/.github/workflows/a.yml"],
    ["/.git/**", "/.gitignore"],
    ["/.git/**", "/git"],
    ["/.git/**", "/digit~1/x"],
    ["**/*.", "/readme"],
    ["/\u200B", "/readme"],
  ])("for %j does not cover %j", (paths, path) => {
    expect(allows([{ effect: "deny", paths }], path)).toBe(true);
  });

  it("covers every path that it matches as spelled, for any folded form", () => {
    expect(allows([{ effect: "deny", paths: "/*." }], "/a.")).toBe(false);
    expect(allows([{ effect: "deny", paths: "/[^a-z]" }], "/A")).toBe(false);
  });
});

it("a long row of dots is folded as fast as anything else", () => {
  const dots = ".".repeat(1_000_000);
  expect(foldName(`${dots}x`)).toHaveLength(1_000_001);
  expect(allows(NO_GIT, `/.git${dots}/x`)).toBe(false);
});

describe("a rule that allows", () => {
  const rules: PermissionRule[] = [
    { effect: "allow", paths: "/wiki/**" },
    { effect: "deny", paths: "**" },
  ];

  it("applies only to paths with the same spelling", () => {
    expect(allows(rules, "/wiki/a")).toBe(true);
    for (const path of ["/Wiki/a", "/wiki./a", "/wi\u200Cki/a"]) expect(allows(rules, path)).toBe(false);
  });
});

describe.each(FILE_SYSTEMS)("on a file system %s", (_, read, spellings) => {
  /** Files in memory that are found by every spelling of their names. */
  function folding(): FileBackend & { files: () => Record<string, string> } {
    const at = (path: string): string => path.split("/").map(read).join("/");
    const files = stateFiles({ "/.git/config": "needle", "/a.md": "needle" });
    return {
      files: () => files.files(),
      list: (path) => files.list(at(path)),
      read: (path) => files.read(at(path)),
      readBytes: (path) => files.readBytes(at(path)),
      write: (path, content) => files.write(at(path), content),
      writeBytes: (path, bytes) => files.writeBytes(at(path), bytes),
      delete: (path) => files.delete(at(path)),
      edit: (path, edit) => files.edit(at(path), edit),
      glob: (pattern, scope) => files.glob(pattern, { ...scope, path: at(scope?.path ?? "/") }),
      grep: (query) => files.grep({ ...query, path: at(query.path ?? "/") }),
    };
  }

  it.each(spellings)("nothing gets past a rule for .git as %j", async (name) => {
    const open = folding();
    expect(await open.read(`/${name}/config`)).toEqual({ ok: true, content: "needle" });
    const backend = withPermissions(open, NO_GIT);
    const before = open.files();
    const path = `/${name}/config`;
    for (const result of [
      await backend.read(path),
      await backend.write(path, "x"),
      await backend.write(`/${name}/hooks/post-commit`, "x"),
      await backend.edit(path, { oldString: "needle", newString: "x" }),
      await backend.delete(path),
      await backend.list(`/${name}`),
      await backend.glob("**", { path: `/${name}`, ignored: true }),
      await backend.grep({ pattern: "needle", path: `/${name}`, ignored: true }),
      await backend.grep({ pattern: "needle", path, ignored: true }),
    ]) {
      expect(result).toMatchObject({ ok: false, reason: "denied" });
    }
    expect(open.files()).toEqual(before);
  });

  it.each(spellings)("searches pass over %j", async (name) => {
    const backend = stateFiles({ [`/${name}/config`]: "needle", "/a.md": "needle" });
    expect(await backend.glob("**")).toEqual({ ok: true, paths: ["/a.md"] });
    expect(await backend.grep({ pattern: "needle" })).toMatchObject({ files: [{ path: "/a.md" }] });
    expect(await backend.glob("**", { path: `/${name}` })).toEqual({ ok: true, paths: [`/${name}/config`] });
  });
});
