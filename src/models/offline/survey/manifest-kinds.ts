import { cutOut } from "./cut-out.ts";
import { readToml, type TomlEntry } from "./toml.ts";

/** What a manifest says: the project's name, and numbers of dependencies by what they are for. */
export interface Manifest {
  name?: string;
  counts: Record<string, number>;
}

/** A kind of manifest. `read` throws for a text that it does not understand. */
export interface ManifestKind {
  kind: string;
  /** A glob for the file's name. */
  glob: string;
  matches: RegExp;
  read: (text: string) => Manifest;
}

/** The manifests that are understood. */
export const MANIFEST_KINDS: readonly ManifestKind[] = [
  { kind: "npm", glob: "package.json", matches: /^package\.json$/, read: readNpm },
  { kind: "Python", glob: "pyproject.toml", matches: /^pyproject\.toml$/, read: readPyproject },
  { kind: "pip", glob: "requirements*.txt", matches: /^requirements.*\.txt$/, read: readRequirements },
  { kind: "Cargo", glob: "Cargo.toml", matches: /^Cargo\.toml$/, read: readCargo },
  { kind: "Go", glob: "go.mod", matches: /^go\.mod$/, read: readGo },
  { kind: "Bundler", glob: "Gemfile", matches: /^Gemfile$/, read: readGemfile },
  { kind: "Maven", glob: "pom.xml", matches: /^pom\.xml$/, read: readPom },
  { kind: "Composer", glob: "composer.json", matches: /^composer\.json$/, read: readComposer },
];

function readNpm(text: string): Manifest {
  const json = readJson(text);
  return named(json["name"], {
    dependencies: keysOf(json["dependencies"]),
    development: keysOf(json["devDependencies"]),
    peer: keysOf(json["peerDependencies"]),
    optional: keysOf(json["optionalDependencies"]),
  });
}

function readComposer(text: string): Manifest {
  const json = readJson(text);
  return named(json["name"], {
    dependencies: keysOf(json["require"]),
    development: keysOf(json["require-dev"]),
  });
}

function readPyproject(text: string): Manifest {
  const entries = readToml(text);
  const listed = (table: string | RegExp, key?: string): number =>
    inTable(entries, table)
      .filter((entry) => key === undefined || entry.key === key)
      .reduce((sum, { strings }) => sum + strings.length, 0);
  const poetry = inTable(entries, "tool.poetry.dependencies").filter(({ key }) => key !== "python");
  const groups = inTable(entries, /^tool\.poetry\.(?:group\.[^.]+\.|dev-)dependencies$/);
  const name = valueOf(entries, "project", "name") ?? valueOf(entries, "tool.poetry", "name");
  return named(name, {
    dependencies: listed("project", "dependencies") + poetry.length,
    development: listed("dependency-groups") + groups.length,
    optional: listed("project.optional-dependencies"),
  });
}

function readCargo(text: string): Manifest {
  const entries = readToml(text);
  const count = (kind: string): number => {
    const tables = new RegExp(String.raw`^(?:workspace\.|target\..+\.)?${kind}(?:\.([^.]+))?$`);
    const names = inTable(entries, tables).map(
      ({ table, key }) => tables.exec(table)?.[1] ?? key.split(".")[0],
    );
    return new Set(names).size;
  };
  return named(valueOf(entries, "package", "name"), {
    dependencies: count("dependencies"),
    development: count("dev-dependencies"),
    build: count("build-dependencies"),
  });
}

function readRequirements(text: string): Manifest {
  const lines = text.split("\n").map((line) => line.trim());
  return { counts: { dependencies: lines.filter((line) => /^[\w"']/.test(line)).length } };
}

function readGo(text: string): Manifest {
  const module = /^module[ \t]+"?([^\s"]+)/m.exec(text)?.[1];
  if (module === undefined) throw new Error("no module line");
  const blocks = cutOut(text, /^require[ \t]*\(/gm, ")").inside.flatMap((block) => block.split("\n"));
  const single = [...text.matchAll(/^require[ \t]+([^\s(].*)$/gm)].map(([, line]) => line!);
  const required = [...blocks, ...single].filter((line) => /^\s*[\w"]/.test(line));
  const indirect = required.filter((line) => /\/\/\s*indirect/.test(line)).length;
  return named(module, { dependencies: required.length - indirect, indirect });
}

function readGemfile(text: string): Manifest {
  return { counts: { dependencies: text.match(/^[ \t]*gem[ \t(]+["']/gm)?.length ?? 0 } };
}

function readPom(text: string): Manifest {
  if (!text.includes("<project")) throw new Error("no project element");
  const plain = cutOut(text, /<!--/g, "-->").outside;
  const own = NOT_ITS_OWN.reduce(withoutElement, plain);
  const name = /<artifactId>\s*([^<\s]+)/.exec(withoutElement(own, "dependencies"))?.[1];
  return named(name, { dependencies: own.match(/<dependency>/g)?.length ?? 0 });
}

/** Elements of a project that speak of others. */
const NOT_ITS_OWN = ["parent", "dependencyManagement", "build", "profiles", "reporting"];

function withoutElement(text: string, name: string): string {
  return cutOut(text, new RegExp(`<${name}>`, "g"), `</${name}>`).outside;
}

function readJson(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("not an object");
  return value as Record<string, unknown>;
}

function keysOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function inTable(entries: readonly TomlEntry[], table: string | RegExp): TomlEntry[] {
  return entries.filter((entry) =>
    typeof table === "string" ? entry.table === table : table.test(entry.table),
  );
}

function valueOf(entries: readonly TomlEntry[], table: string, key: string): string | undefined {
  return inTable(entries, table).find((entry) => entry.key === key)?.strings[0];
}

/** Dependencies are always said, other kinds where there are some. */
function named(name: unknown, counts: Record<string, number>): Manifest {
  const said = Object.entries(counts).filter(([kind, count]) => kind === "dependencies" || count > 0);
  return { ...(typeof name === "string" && name !== "" && { name }), counts: Object.fromEntries(said) };
}
