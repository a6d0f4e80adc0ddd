import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One numbered part of the specification, and how it is done. */
export interface Part {
  item: string;
  writes: readonly { path: string; content: string }[];
  edits: readonly { path: string; before: string; after: string }[];
}

const MODULES: Record<string, { about: string; code: string; test: string }> = {
  money: {
    about: "format(cents) gives dollars with two decimals and a sign in front; parse(text) gives cents.",
    code: `/** Amounts in cents. */\nexport function format(cents) {\n  const sign = cents < 0 ? "-" : "";\n  const whole = Math.floor(Math.abs(cents) / 100);\n  const rest = String(Math.abs(cents) % 100).padStart(2, "0");\n  return \`\${sign}$\${whole}.\${rest}\`;\n}\n\nexport function parse(text) {\n  const match = /^(-?)\\$?(\\d+)(?:\\.(\\d{1,2}))?$/.exec(text.trim());\n  if (!match) throw new Error(\`not an amount: \${text}\`);\n  const cents = Number(match[2]) * 100 + Number((match[3] ?? "").padEnd(2, "0"));\n  return match[1] ? -cents : cents;\n}\n`,
    test: `assert.equal(it.format(-1205), "-$12.05");\nassert.equal(it.parse("$3.5"), 350);`,
  },
  parse: {
    about:
      "parse(csv) gives { date, text, cents } per line, without empty lines and comments that begin with #.",
    code: `import { parse as money } from "./money.js";\n\n/** The entries of a statement, in its order. */\nexport function parse(csv) {\n  return csv\n    .split(/\\r?\\n/)\n    .filter((line) => line.trim() !== "" && !line.startsWith("#"))\n    .map((line, at) => {\n      const [date, text, amount] = line.split(",").map((cell) => cell.trim());\n      if (!/^\\d{4}-\\d{2}-\\d{2}$/.test(date)) throw new Error(\`line \${at + 1}: no date\`);\n      return { date, text, cents: money(amount) };\n    });\n}\n`,
    test: `assert.deepEqual(it.parse("# x\\n2026-01-02, Tea, 3.50\\n"), [{ date: "2026-01-02", text: "Tea", cents: 350 }]);`,
  },
  dedupe: {
    about: "dedupe(entries) drops entries that are the same in all fields as an earlier one.",
    code: `/** The entries without repetitions, in their order. */\nexport function dedupe(entries) {\n  const seen = new Set();\n  return entries.filter(({ date, text, cents }) => {\n    const key = JSON.stringify([date, text, cents]);\n    if (seen.has(key)) return false;\n    seen.add(key);\n    return true;\n  });\n}\n`,
    test: `const e = { date: "d", text: "t", cents: 1 };\nassert.deepEqual(it.dedupe([e, { ...e }, { ...e, cents: 2 }]), [e, { ...e, cents: 2 }]);`,
  },
  rules: {
    about:
      "categorize(entry, rules) gives the category of the first rule whose word is in the text, or other.",
    code: `/** The category of an entry, whatever the case of its text. */\nexport function categorize({ text }, rules) {\n  const words = text.toLowerCase();\n  const rule = rules.find(({ word }) => words.includes(word.toLowerCase()));\n  return rule?.category ?? "other";\n}\n`,
    test: `assert.equal(it.categorize({ text: "Green TEA" }, [{ word: "tea", category: "food" }]), "food");\nassert.equal(it.categorize({ text: "x" }, []), "other");`,
  },
  report: {
    about: "report(entries, rules) gives the sum per category, largest first.",
    code: `import { categorize } from "./rules.js";\n\n/** Sums by category, the largest first. */\nexport function report(entries, rules) {\n  const sums = new Map();\n  for (const entry of entries) {\n    const category = categorize(entry, rules);\n    sums.set(category, (sums.get(category) ?? 0) + entry.cents);\n  }\n  return [...sums]\n    .map(([category, cents]) => ({ category, cents }))\n    .sort((a, b) => b.cents - a.cents);\n}\n`,
    test: `assert.deepEqual(it.report([{ text: "a", cents: 1 }, { text: "b", cents: 5 }], [{ word: "b", category: "B" }]), [{ category: "B", cents: 5 }, { category: "other", cents: 1 }]);`,
  },
  cli: {
    about: "main(csv, rules) gives the report as lines of text.",
    code: `import { dedupe } from "./dedupe.js";\nimport { format } from "./money.js";\nimport { parse } from "./parse.js";\nimport { report } from "./report.js";\n\n/** The report of a statement, as text. */\nexport function main(csv, rules) {\n  const entries = dedupe(parse(csv));\n  return report(entries, rules)\n    .map(({ category, cents }) => \`\${category} \${format(cents)}\`)\n    .join("\\n");\n}\n`,
    test: `assert.match(it.main("2026-01-02,Tea,3.50", []), /^other.* \\$3\\.50/);`,
  },
};

/** What a module is before it is written. */
const STUB = "// see SPEC.md\n";

/** The files that the task begins with, by path. */
export function projectFiles(): Record<string, string> {
  const names = Object.keys(MODULES);
  const spec = names.map((name, at) => `${at + 1}. src/${name}.js: ${MODULES[name]!.about}`);
  const files: Record<string, string> = {
    "/SPEC.md": `# tally\n\n${spec.join("\n")}\n7. main pads categories to ten characters, counts entries, and names the total.\n`,
    "/package.json": JSON.stringify({ name: "tally", type: "module", scripts: { test: "node --test" } }),
    "/CHANGELOG.md": "# Changelog\n\n## Unreleased\n",
  };
  for (const name of names) {
    const head = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport * as it from "../src/${name}.js";\n`;
    files[`/src/${name}.js`] = STUB;
    files[`/test/${name}.test.js`] = `${head}\ntest("${name}", () => {\n${MODULES[name]!.test}\n});\n`;
  }
  return files;
}

export function writeProject(dir: string): void {
  for (const [path, text] of Object.entries(projectFiles())) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

const write = (name: string) => ({ path: `/src/${name}.js`, content: MODULES[name]!.code });
const part = (item: string, ...names: string[]): Part => ({ item, writes: names.map(write), edits: [] });
const edit = (path: string, before: string, after: string) => ({ path, before, after });

/** The work as it was played: modules in pairs, then edits of one file, tests after each. */
export const PARTS: readonly Part[] = [
  part("Implement money and parse", "money", "parse"),
  part("Implement dedupe and rules", "dedupe", "rules"),
  part("Implement report and cli", "report", "cli"),
  {
    item: "Pad categories, count entries and name the total",
    writes: [],
    edits: [
      edit("/src/cli.js", "  return report(entries, rules)\n", "  const lines = report(entries, rules)\n"),
      edit(
        "/src/cli.js",
        "`${category} ${format(cents)}`)\n    .join",
        "`${category.padEnd(10)} ${format(cents)}`);\n  return lines.join",
      ),
      edit(
        "/src/cli.js",
        "/** The report of a statement, as text. */",
        "/** The report of a statement, as text, with its total. */",
      ),
      edit("/src/cli.js", 'lines.join("\\n")', '[...lines, totalOf(entries)].join("\\n")'),
      edit("/src/cli.js", "  return [...lines", "  // The total comes last.\n  return [...lines"),
      edit(
        "/src/cli.js",
        "  const entries = dedupe(parse(csv));",
        "  // The same entry may stand in two statements.\n  const entries = dedupe(parse(csv));",
      ),
      edit(
        "/src/cli.js",
        'import { report } from "./report.js";\n',
        'import { report } from "./report.js";\n\nfunction totalOf(entries) {\n  const cents = entries.reduce((sum, entry) => sum + entry.cents, 0);\n  return `${entries.length} entries, ${format(cents)}`;\n}\n',
      ),
      edit(
        "/CHANGELOG.md",
        "## Unreleased\n",
        "## Unreleased\n\n- Reports by category.\n- A total below them.\n",
      ),
    ],
  },
  {
    item: "Test what the tests do not cover",
    writes: [
      {
        path: "/test/total.test.js",
        content: `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { main } from "../src/cli.js";\n\ntest("the total comes last", () => {\n  const csv = "2026-01-02,Tea,3.50\\n2026-01-02,Tea,3.50\\n2026-01-03,Bus,2.00\\n";\n  assert.equal(main(csv, []).split("\\n").at(-1), "2 entries, $5.50");\n});\n`,
      },
    ],
    edits: [edit("/test/money.test.js", "});\n", '  assert.throws(() => it.parse("x"));\n});\n')],
  },
];

export const LOOK =
  "git status --short 2>/dev/null | head; cat SPEC.md package.json; tail -n +1 src/*.js test/*.js CHANGELOG.md";
export const TEST = "npm test 2>&1 | tail -n 25";
