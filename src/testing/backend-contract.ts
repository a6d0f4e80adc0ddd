import type { FileBackend, FileResult, TextEdit } from "../files/index.ts";

/** The functions of a test runner that the contract suite needs. Vitest and Jest have them. */
export interface TestRunner {
  describe: (name: string, body: () => void) => unknown;
  it: (name: string, body: () => Promise<void>) => unknown;
  expect: (value: unknown, message?: string) => { toEqual(expected: unknown): unknown };
}

/** Options of the contract suite. */
export interface BackendContractOptions extends TestRunner {
  /** Returns a new backend without files, for each test. */
  createBackend: () => FileBackend | Promise<FileBackend>;
}

/**
 * The contract of file backends as a test suite. Pass the runner's `describe`, `it` and `expect`.
 *
 * @example
 * ```ts
 * import { mkdtemp } from "node:fs/promises";
 * import { diskBackend } from "holdfast/files";
 * import { backendContract } from "holdfast/testing";
 * import { describe, expect, it } from "vitest";
 *
 * const createBackend = async () => diskBackend(await mkdtemp("/tmp/files-"));
 * backendContract("diskBackend", { describe, it, expect, createBackend });
 * ```
 */
export function backendContract(name: string, options: BackendContractOptions): void {
  const { describe, it, expect, createBackend } = options;

  /** Defines a test on a backend with files. */
  const on = (
    sentence: string,
    files: Record<string, string>,
    body: (backend: FileBackend) => Promise<void>,
  ): void => {
    it(sentence, async () => {
      const backend = await createBackend();
      for (const [path, content] of Object.entries(files)) await must(backend.write(path, content));
      await body(backend);
    });
  };
  const names = async (backend: FileBackend, path: string): Promise<string[]> =>
    (await must(backend.list(path))).entries.map((entry) =>
      entry.isDirectory ? `${entry.name}/` : entry.name,
    );
  const text = async (backend: FileBackend, path: string): Promise<string> =>
    (await must(backend.read(path))).content;
  const paths = async (backend: FileBackend, pattern: string, path?: string): Promise<string[]> =>
    (await must(backend.glob(pattern, { path }))).paths;
  /** Expects a failure whose text contains all parts. */
  const refused = async (result: Promise<FileResult>, ...parts: string[]): Promise<void> => {
    const outcome = await result;
    expect(outcome.ok, "expected a refusal").toEqual(false);
    if (outcome.ok) return;
    for (const part of parts)
      expect(outcome.error.includes(part), `${part} in: ${outcome.error}`).toEqual(true);
  };

  describe(`the file backend ${name}`, () => {
    describe("reading and writing", () => {
      on("begins with an empty root", {}, async (backend) => {
        expect(await names(backend, "/")).toEqual([]);
        expect(await paths(backend, "**")).toEqual([]);
      });

      on("gives back what was written, to the character", {}, async (backend) => {
        for (const content of CONTENTS) {
          await must(backend.write("/a.txt", content));
          expect(await text(backend, "/a.txt")).toEqual(content);
        }
      });

      on("says whether a write made the file", {}, async (backend) => {
        expect((await must(backend.write("/a.md", "1"))).created).toEqual(true);
        expect((await must(backend.write("/a.md", "2"))).created).toEqual(false);
        expect(await text(backend, "/a.md")).toEqual("2");
      });

      on("takes every spelling of a path for the same file", { "a/b.md": "x" }, async (backend) => {
        for (const path of ["/a/b.md", "a/b.md", "./a/b.md", "/a//b.md", "/./a/./b.md"]) {
          expect(await text(backend, path)).toEqual("x");
        }
        expect(await paths(backend, "**")).toEqual(["/a/b.md"]);
      });

      on("takes names with odd characters as they are", {}, async (backend) => {
        for (const path of ODD_PATHS) await must(backend.write(path, path));
        for (const path of ODD_PATHS) expect(await text(backend, path)).toEqual(path);
        expect(await paths(backend, "**")).toEqual([...ODD_PATHS].toSorted(codeUnits));
      });

      on("refuses paths that could mean another place", { "/a.md": "x" }, async (backend) => {
        for (const path of BAD_PATHS) {
          await refused(backend.read(path));
          await refused(backend.write(path, "bad"));
          await refused(backend.delete(path));
          await refused(backend.edit(path, edit("x", "y")));
          await refused(backend.list(path));
          await refused(backend.glob("**", { path }));
          await refused(backend.grep({ pattern: "x", path }));
        }
        expect(await paths(backend, "**")).toEqual(["/a.md"]);
      });

      on("names near matches of a missing file", { "/notes/report.md": "x" }, async (backend) => {
        await refused(backend.read("/report.md"), `"/report.md"`, `"/notes/report.md"`);
        await refused(backend.read("/notes/reprot.md"), `"/notes/report.md"`);
        await refused(backend.edit("/notes/Report.md.", edit("x", "y")), `"/notes/report.md"`);
        await refused(backend.delete("/report.txt"), `"/notes/report.md"`);
        await refused(backend.list("/note"), `"/note"`, `"/notes"`);
      });

      on("deletes a file, and a folder with all that is in it", FAMILY, async (backend) => {
        await must(backend.delete("/c.md"));
        await refused(backend.read("/c.md"), `"/c.md"`);
        await refused(backend.delete("/c.md"), `"/c.md"`);
        await must(backend.delete("/a"));
        expect(await names(backend, "/")).toEqual(["ab/"]);
        await refused(backend.delete("/a"), `"/a"`);
        await refused(backend.delete("/"), "root");
        expect(await paths(backend, "**", "/ab")).toEqual(["/ab/d.md"]);
        await must(backend.write("/a", "a file now"));
      });
    });

    describe("files that are not text", () => {
      on("gives back what was written, to the byte", {}, async (backend) => {
        for (const bytes of BYTES) {
          await must(backend.writeBytes("/a.bin", bytes));
          expect([...(await must(backend.readBytes("/a.bin"))).bytes]).toEqual([...bytes]);
        }
        expect((await must(backend.writeBytes("/b/c.bin", BYTES[0]!))).created).toEqual(true);
        expect((await must(backend.writeBytes("/b/c.bin", BYTES[0]!))).created).toEqual(false);
        await refused(backend.readBytes("/b"), `"/b" is a folder`);
        await refused(backend.readBytes("/d.bin"), `"/d.bin"`);
        await refused(backend.writeBytes("/b", BYTES[0]!), `"/b"`);
      });

      on("keeps text and bytes apart, even if they look alike", {}, async (backend) => {
        const looksBinary = "data:image/png;base64,AAAA";
        await must(backend.write("/a.txt", looksBinary));
        expect(await text(backend, "/a.txt")).toEqual(looksBinary);
        expect([...(await must(backend.readBytes("/a.txt"))).bytes]).toEqual([
          ...new TextEncoder().encode(looksBinary),
        ]);
        await must(backend.edit("/a.txt", edit("AAAA", "BBBB")));
        expect(await text(backend, "/a.txt")).toEqual("data:image/png;base64,BBBB");
        await must(backend.writeBytes("/b.txt", new TextEncoder().encode("plain")));
        expect(await text(backend, "/b.txt")).toEqual("plain");
      });

      on("lists them, passes over them in searches and refuses to edit them", {}, async (backend) => {
        const bytes = new TextEncoder().encode("needle\0");
        await must(backend.writeBytes("/a.bin", bytes));
        const { entries } = await must(backend.list("/", { sizes: true }));
        expect(entries.map(({ path, size }) => [path, size])).toEqual([["/a.bin", bytes.length]]);
        expect(await paths(backend, "**")).toEqual(["/a.bin"]);
        expect((await must(backend.grep({ pattern: "needle" }))).files).toEqual([]);
        const refusal = [`"/a.bin" is a binary file`, `${bytes.length} bytes`, "edited"];
        await refused(backend.edit("/a.bin", edit("needle", "x")), ...refusal);
        await refused(backend.read("/a.bin"), ...refusal);
        expect([...(await must(backend.readBytes("/a.bin"))).bytes]).toEqual([...bytes]);
      });
    });

    describe("folders", () => {
      on("lists files and folders by name", LIBRARY, async (backend) => {
        expect(await names(backend, "/")).toEqual([".env", "README.md", "src/"]);
        expect(await names(backend, "/src")).toEqual(["a.ts", "b.tsx", "deep/"]);
        expect(await names(backend, "src/")).toEqual(["a.ts", "b.tsx", "deep/"]);
        const { entries } = await must(backend.list("/src/deep"));
        expect(entries.map(({ path }) => path)).toEqual(["/src/deep/[id]", "/src/deep/c.ts"]);
      });

      on("keeps files and folders apart", { "/a/b.md": "x", "/f": "y" }, async (backend) => {
        await refused(backend.read("/a"), `"/a"`);
        await refused(backend.read("/"));
        await refused(backend.list("/f"), `"/f" is a file`);
        await refused(backend.write("/a", "z"), `"/a"`);
        await refused(backend.write("/", "z"));
        await refused(backend.write("/f/g.md", "z"), `"/f`);
        expect(await paths(backend, "**")).toEqual(["/a/b.md", "/f"]);
      });
    });

    describe("editing", () => {
      on("replaces text as it stands, with nothing special in it", { "/a": "cost: X\n" }, async (backend) => {
        expect((await must(backend.edit("/a", edit("X", "$& $1 $$ \\n")))).lines).toEqual([1]);
        expect(await text(backend, "/a")).toEqual("cost: $& $1 $$ \\n\n");
      });

      on("refuses an edit that is not clear", { "/a": "one\ntwo\none\n" }, async (backend) => {
        await refused(backend.edit("/a", edit("one", "1")), `"/a"`, "2 times", "1, 3");
        await refused(backend.edit("/a", edit("three", "3")), `"/a"`, "not found");
        await refused(backend.edit("/a", edit("", "3")), "empty");
        await refused(backend.edit("/a", edit("one", "one")), "same");
        await refused(backend.edit("/b", edit("one", "1")), `"/b"`);
        expect(await text(backend, "/a")).toEqual("one\ntwo\none\n");
        await must(backend.edit("/a", { ...edit("one", "1"), replaceAll: true }));
        expect(await text(backend, "/a")).toEqual("1\ntwo\n1\n");
      });

      on("keeps line endings and tabs", { "/a": "a\r\n\tb\r\nc" }, async (backend) => {
        await must(backend.edit("/a", edit("a\n\tb", "a\n\tb\n\td")));
        expect(await text(backend, "/a")).toEqual("a\r\n\tb\r\n\td\r\nc");
      });

      on("applies all of many edits made at once", { "/a": numbers.join("\n") }, async (backend) => {
        const edits = numbers.map((n) => backend.edit("/a", edit(n, n.replace(".", "!"))));
        for (const result of await Promise.all(edits)) expect(result.ok).toEqual(true);
        expect(await text(backend, "/a")).toEqual(numbers.join("\n").replaceAll(".", "!"));
      });
    });

    describe("finding files", () => {
      on(
        "counts a pattern with a slash in front from the root, others from the folder",
        LIBRARY,
        async (backend) => {
          const all = ["/src/a.ts", "/src/deep/c.ts"];
          expect(await paths(backend, "/src/**/*.ts")).toEqual(all);
          expect(await paths(backend, "src/**/*.ts")).toEqual(all);
          expect(await paths(backend, "**/*.ts")).toEqual(all);
          expect(await paths(backend, "**/*.ts", "/src")).toEqual(all);
          expect(await paths(backend, "/src/**/*.ts", "/src/deep")).toEqual(["/src/deep/c.ts"]);
          expect(await paths(backend, "*.ts", "/src")).toEqual(["/src/a.ts"]);
          expect(await paths(backend, "*.ts")).toEqual([]);
        },
      );

      on("knows braces, question marks, classes, dotfiles and whole names", LIBRARY, async (backend) => {
        expect(await paths(backend, "src/*.{ts,tsx}")).toEqual(["/src/a.ts", "/src/b.tsx"]);
        expect(await paths(backend, "src/?.ts")).toEqual(["/src/a.ts"]);
        expect(await paths(backend, "src/[!a].tsx")).toEqual(["/src/b.tsx"]);
        expect(await paths(backend, "*")).toEqual(["/.env", "/README.md"]);
        expect(await paths(backend, "**/[id]/page.tsx")).toEqual([]);
        expect(await paths(backend, "/src/deep/[id]/page.tsx")).toEqual(["/src/deep/[id]/page.tsx"]);
        expect(await paths(backend, "/nowhere/**")).toEqual([]);
      });

      on("leaves out what the caller does", LIBRARY, async (backend) => {
        const include = (path: string): boolean => !path.startsWith("/src/deep");
        const result = await must(backend.glob("**/*.ts", { include }));
        expect(result.paths).toEqual(["/src/a.ts"]);
      });

      on("refuses patterns and folders that cannot be", LIBRARY, async (backend) => {
        await refused(backend.glob(""), "empty");
        await refused(backend.glob("../*"));
        await refused(backend.glob("{a,b}".repeat(20)), "braces");
        await refused(backend.glob("*".repeat(5000)), "5000");
        await refused(backend.glob("*", { path: "/srk" }), `"/srk"`, `"/src"`);
      });
    });

    describe("searching text", () => {
      const search = async (
        backend: FileBackend,
        query: Parameters<FileBackend["grep"]>[0],
      ): Promise<string[]> =>
        (await must(backend.grep(query))).files.flatMap(({ path, lines }) =>
          lines.map(({ line, text: shown, isMatch }) => `${path}:${line}${isMatch ? ":" : "-"}${shown}`),
        );

      on("finds plain text unless asked for an expression", LIBRARY, async (backend) => {
        expect(await search(backend, { pattern: "f(x)" })).toEqual(["/src/a.ts:2:let y = f(x);"]);
        expect(await search(backend, { pattern: "f.x." })).toEqual([]);
        expect(await search(backend, { pattern: "f.x.", regex: true })).toEqual([
          "/src/a.ts:2:let y = f(x);",
        ]);
        expect(await search(backend, { pattern: "^LET .*;$", regex: true, ignoreCase: true })).toEqual([
          "/src/a.ts:1:let x = 1;",
          "/src/a.ts:2:let y = f(x);",
          "/src/deep/c.ts:2:let z = 3;",
        ]);
      });

      on("keeps to a file, a folder, a glob", LIBRARY, async (backend) => {
        const files = async (query: object): Promise<string[]> =>
          (await must(backend.grep({ pattern: "let", output: "files", ...query }))).files.map(
            ({ path }) => path,
          );
        expect(await files({})).toEqual(["/src/a.ts", "/src/deep/c.ts"]);
        expect(await files({ path: "/src/deep" })).toEqual(["/src/deep/c.ts"]);
        expect(await files({ path: "/src/a.ts" })).toEqual(["/src/a.ts"]);
        expect(await files({ glob: "c.*" })).toEqual(["/src/deep/c.ts"]);
        expect(await files({ glob: "/src/*.ts" })).toEqual(["/src/a.ts"]);
        expect(await files({ glob: "*.ts", path: "/src/deep" })).toEqual(["/src/deep/c.ts"]);
        expect(await files({ include: (path: string) => !path.includes("deep") })).toEqual(["/src/a.ts"]);
      });

      on("shows context once, and CRLF lines without their end", LIBRARY, async (backend) => {
        expect(
          await search(backend, { pattern: "let", path: "/src/deep/c.ts", before: 1, after: 5 }),
        ).toEqual([
          "/src/deep/c.ts:1-// three",
          "/src/deep/c.ts:2:let z = 3;",
          "/src/deep/c.ts:3-",
          "/src/deep/c.ts:4-end",
        ]);
      });

      on("counts matching lines per file", LIBRARY, async (backend) => {
        const { files } = await must(backend.grep({ pattern: "let", output: "count" }));
        expect(files).toEqual([
          { path: "/src/a.ts", count: 2, lines: [] },
          { path: "/src/deep/c.ts", count: 1, lines: [] },
        ]);
      });

      on("stops at the most matches and says so", LIBRARY, async (backend) => {
        const content = await must(backend.grep({ pattern: "let", maxMatches: 1 }));
        expect(content.files.map(({ path, count }) => [path, count])).toEqual([["/src/a.ts", 1]]);
        expect(content.notes.length).toEqual(1);
        const files = await must(backend.grep({ pattern: "let", maxMatches: 1, output: "files" }));
        expect(files.files.map(({ path }) => path)).toEqual(["/src/a.ts"]);
        expect(files.notes.length).toEqual(1);
        const exact = await must(backend.grep({ pattern: "let", maxMatches: 3 }));
        expect([exact.files.length, exact.notes]).toEqual([2, []]);
      });

      on("refuses what it cannot search for", LIBRARY, async (backend) => {
        for (const pattern of ["a(", "(?=x)", "(a)\\1", "[b-a]", "((a{100}){100}){100}"]) {
          await refused(backend.grep({ pattern, regex: true }), "expression");
        }
        await refused(backend.grep({ pattern: "" }), "empty");
        await refused(backend.grep({ pattern: "a\nb" }), "line");
        await refused(backend.grep({ pattern: "x", path: "/srk" }), `"/src"`);
      });

      on(
        "does not hang on an expression that backtracks",
        { "/a": `${"a".repeat(5000)}b` },
        async (backend) => {
          const { files } = await must(backend.grep({ pattern: "^(a+)+$", regex: true }));
          expect(files).toEqual([]);
        },
      );

      on("throws the reason of an abort", LIBRARY, async (backend) => {
        const signal = AbortSignal.abort(new Error("enough"));
        const reason = (error: unknown): string => String(error);
        expect(await backend.grep({ pattern: "let", signal }).catch(reason)).toEqual("Error: enough");
        expect(await backend.glob("**", { signal }).catch(reason)).toEqual("Error: enough");
      });
    });
  });
}

const LIBRARY = {
  "/README.md": "# Title\n",
  "/.env": "KEY=1\n",
  "/src/a.ts": "let x = 1;\nlet y = f(x);\n",
  "/src/b.tsx": "<b/>\n",
  "/src/deep/c.ts": "// three\r\nlet z = 3;\r\n\r\nend",
  "/src/deep/[id]/page.tsx": "page\n",
};

const FAMILY = {
  "/a/b.md": "x",
  "/a/.c/d/e.md": "x",
  "/a/node_modules/f.js": "x",
  "/a/.gitignore": "*.log",
  "/a/g.log": "x",
  "/ab/d.md": "z",
  "/c.md": "y",
};

/** Every byte, no bytes, the beginning of an image, and text that is cut within a character. */
const BYTES = [
  Uint8Array.from({ length: 256 }, (_, byte) => byte),
  new Uint8Array(),
  Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
  Uint8Array.of(0x61, 0xe2, 0x82),
];

const CONTENTS = [
  "",
  "\n",
  "x",
  "a\r\nb\rc\n\n",
  "\ttab",
  "\uFEFFmark",
  "\u2028 \u0001",
  "日本語 🎉",
  "x".repeat(100_000),
];

const ODD_PATHS = [
  "/%2e%2e/a",
  "/~",
  "/a b/c'd.md",
  "/...a",
  "/é/é",
  "/$HOME",
  "/-rf",
  "/ab:c",
  "/．．/x",
  "/{a}[b]*?",
];

const BAD_PATHS = [
  "..",
  "/../a.md",
  "a/../../b",
  "/a/..",
  "..\\a",
  "C:\\a",
  "c:/a",
  "/C:a",
  "\\\\host\\share",
  "\\\\?\\C:\\a",
  "/a\0.md",
  "/a\nb",
  "/a/.../b",
  "/.. /a",
  "/ ",
  "/\uD800",
];

const numbers = Array.from({ length: 20 }, (_, index) => `line ${String.fromCodePoint(97 + index)}.`);

function edit(oldString: string, newString: string): TextEdit {
  return { oldString, newString };
}

async function must<T extends object>(result: Promise<FileResult<T>>): Promise<T> {
  const outcome = await result;
  if (outcome.ok) return outcome;
  throw new Error(outcome.error);
}

function codeUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}
