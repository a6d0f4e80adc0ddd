import type { ListedFile } from "./walk.ts";

/** The files of one language. */
export interface LanguageRow {
  language: string;
  files: number;
  bytes: number;
  lines: number;
  /** Files that are not empty and have no lines of text. */
  withoutText: number;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  Astro: "astro",
  C: "c h",
  "C#": "cs csx",
  "C++": "cc cpp cxx hh hpp hxx",
  Clojure: "clj cljc cljs edn",
  CSS: "css",
  CSV: "csv tsv",
  Dart: "dart",
  Elixir: "ex exs",
  Elm: "elm",
  Erlang: "erl hrl",
  "F#": "fs fsi fsx",
  Go: "go",
  GraphQL: "graphql gql",
  Groovy: "groovy gradle",
  Haskell: "hs lhs",
  HTML: "html htm xhtml",
  Image: "png jpg jpeg gif webp ico bmp avif tif tiff",
  INI: "ini cfg conf properties editorconfig",
  Java: "java",
  JavaScript: "js cjs mjs jsx",
  JSON: "json jsonc json5 jsonl ndjson webmanifest map",
  Julia: "jl",
  Kotlin: "kt kts",
  Less: "less",
  Lua: "lua",
  Markdown: "md mdx markdown",
  "Jupyter Notebook": "ipynb",
  "Objective-C": "m mm",
  OCaml: "ml mli",
  Perl: "pl pm",
  PHP: "php",
  PowerShell: "ps1 psm1",
  Protobuf: "proto",
  Python: "py pyi pyw",
  R: "r rmd",
  reStructuredText: "rst",
  Ruby: "rb rake gemspec",
  Rust: "rs",
  Sass: "scss sass",
  Scala: "scala sc sbt",
  Shell: "sh bash zsh fish",
  Snapshot: "snap",
  Solidity: "sol",
  SQL: "sql",
  Svelte: "svelte",
  SVG: "svg",
  Swift: "swift",
  TeX: "tex bib sty",
  Terraform: "tf tfvars hcl",
  Text: "txt text log",
  TOML: "toml",
  TypeScript: "ts tsx mts cts",
  Vue: "vue",
  XML: "xml xsd xsl plist",
  YAML: "yml yaml",
  Zig: "zig",
};

const BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [extension, language] as const),
  ),
);

const BY_NAME: ReadonlyMap<string, string> = new Map([
  ["dockerfile", "Dockerfile"],
  ["containerfile", "Dockerfile"],
  ["makefile", "Makefile"],
  ["gnumakefile", "Makefile"],
  ["cmakelists.txt", "CMake"],
  ["gemfile", "Ruby"],
  ["rakefile", "Ruby"],
  ["license", "Text"],
  ["readme", "Text"],
]);

/** The language of a file, judged by its name alone. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  const extension = dot < 0 ? "" : name.slice(dot + 1);
  return BY_NAME.get(name) ?? BY_EXTENSION.get(extension) ?? "Other";
}

/** What there is of each language, the most bytes first. */
export function groupLanguages(
  files: readonly ListedFile[],
  counts: ReadonlyMap<string, number>,
): LanguageRow[] {
  const rows = new Map<string, LanguageRow>();
  for (const { path, size = 0 } of files) {
    const language = languageOf(path);
    const row = rows.get(language) ?? { language, files: 0, bytes: 0, lines: 0, withoutText: 0 };
    const lines = counts.get(path);
    rows.set(language, {
      language,
      files: row.files + 1,
      bytes: row.bytes + size,
      lines: row.lines + (lines ?? 0),
      withoutText: row.withoutText + (lines === undefined && size > 0 ? 1 : 0),
    });
  }
  return [...rows.values()].toSorted(
    (a, b) => b.bytes - a.bytes || b.files - a.files || (a.language < b.language ? -1 : 1),
  );
}
