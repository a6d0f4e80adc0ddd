/** A key of a TOML file, with the table it is in and the strings of its value. */
export interface TomlEntry {
  table: string;
  key: string;
  strings: string[];
}

/** The keys of a TOML file, in order. Knows as much of TOML as manifests use. */
export function readToml(text: string): TomlEntry[] {
  const entries: TomlEntry[] = [];
  let table = "";
  let open = 0;
  for (const raw of text.split("\n")) {
    const { bare, strings } = withoutStrings(raw);
    if (open > 0) entries.at(-1)?.strings.push(...strings);
    else {
      const header = /^\s*\[{1,2}([^\]]+)\]/.exec(raw)?.[1];
      if (header !== undefined) {
        table = header
          .split(".")
          .map((part) => part.trim())
          .join(".");
        continue;
      }
      const key = /^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=/.exec(raw)?.[1];
      if (key === undefined) continue;
      const value = raw.slice(raw.indexOf("=") + 1);
      entries.push({
        table,
        key: key.replaceAll(/^["']|["']$/g, ""),
        strings: withoutStrings(value).strings,
      });
    }
    open = Math.max(0, open + depth(bare));
  }
  return entries;
}

/** A line without its strings and its comment, and those strings. */
function withoutStrings(line: string): { bare: string; strings: string[] } {
  const strings: string[] = [];
  const bare = line.replaceAll(
    // A string without an end goes to the end of the line: it is not looked for again from each quote in it.
    /"((?:[^"\\]|\\.)*)(?:"|\\?$)|'([^']*)(?:'|$)|#.*$/g,
    (whole, double?: string, single?: string) => {
      if (!whole.startsWith("#")) strings.push(double ?? single ?? "");
      return "";
    },
  );
  return { bare, strings };
}

/** How many brackets of a value are left open. */
function depth(bare: string): number {
  const count = (bracket: RegExp): number => bare.match(bracket)?.length ?? 0;
  return count(/[[{]/g) - count(/[\]}]/g);
}
