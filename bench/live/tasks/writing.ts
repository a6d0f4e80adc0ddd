import { json, jsonIs, lines, touched, type LiveTask } from "./task.ts";

const WORDS = /\p{L}[\p{L}\p{N}'’-]*/gu;
const wordsIn = (text: string): string[] => [...text.matchAll(WORDS)].map(([word]) => word);
const filled = (text: string | undefined): string[] =>
  (text ?? "").split("\n").filter((line) => line.trim() !== "");

/** Texts that have to keep several rules at once, each of which can be counted. */
export const WRITING_TASKS: readonly LiveTask[] = [
  {
    id: "release-notes",
    kind: "writing",
    assign: (random) => {
      const commits = random
        .shuffle([
          ["feat", "search by tag"],
          ["feat", "export to csv"],
          ["fix", "crash on empty list"],
          ["fix", "wrong time zone in mails"],
          ["fix", "slow start with many files"],
          ["docs", "how to install"],
          ["chore", "update tools"],
        ] as const)
        .map(([type, text], at) => ({
          type,
          text,
          hash: `a${(at + 3) * 7919}f`.slice(0, 6),
          isBreaking: at === 2,
        }));
      const version = `2.${random.between(1, 9)}.0`;
      const log = (of: readonly (typeof commits)[number][]): string =>
        lines(
          ...of.map(({ type, text, hash, isBreaking }) => `${hash} ${type}${isBreaking ? "!" : ""}: ${text}`),
        );
      const section = (title: string, of: readonly (typeof commits)[number][]): string[] =>
        of.length === 0
          ? []
          : [
              "",
              `## ${title}`,
              "",
              ...of.map(({ text, hash }) => `- ${text[0]!.toUpperCase()}${text.slice(1)} (${hash})`),
            ];
      const notes = (hasBreaking: boolean): string =>
        lines(
          `# ${version}`,
          ...(hasBreaking
            ? section(
                "Breaking",
                commits.filter(({ isBreaking }) => isBreaking),
              )
            : []),
          ...section(
            "Features",
            commits.filter(({ type, isBreaking }) => type === "feat" && !(hasBreaking && isBreaking)),
          ),
          ...section(
            "Fixes",
            commits.filter(({ type, isBreaking }) => type === "fix" && !(hasBreaking && isBreaking)),
          ),
        );
      const files = {
        "log/core.txt": log(commits.slice(0, 4)),
        "log/web.txt": log(commits.slice(4)),
        VERSION: `${version}\n`,
        "package.json": json({ name: "notes", version: "1.9.3" }),
      };
      const bumped = { name: "notes", version };
      return {
        prompt:
          "Write NOTES.md for the version in VERSION from the commits in log/core.txt and then log/web.txt. First the line # VERSION. Then sections in this order, each only if it has entries: ## Breaking (commits with a !, whatever their type, which then stand in no other section), ## Features (feat), ## Fixes (fix); other types are left out. An entry is a line such as - Search by tag (a1b2c3): the text with a capital letter, and the hash. Entries keep the order of the logs; around headings stand empty lines. Set the version in package.json too. Leave the other files as they are.",
        files,
        check: ({ files: after }) => [
          ...(filled(after["NOTES.md"]).join("\n") === filled(notes(true)).join("\n")
            ? []
            : ["NOTES.md is not right"]),
          ...jsonIs(after, "package.json", bumped),
          ...touched(files, after, ["log/core.txt", "log/web.txt", "VERSION"]),
        ],
        solution: { "NOTES.md": notes(true), "package.json": json(bumped) },
        mistake: { "NOTES.md": notes(false), "package.json": json(bumped) },
      };
    },
  },
  {
    id: "glossary",
    kind: "writing",
    assign: (random) => {
      const terms = random
        .shuffle(["anchor", "buoy", "compass", "deck", "galley", "hull", "keel", "mast"])
        .slice(0, 6);
      const most = random.between(9, 12);
      const sorted = terms.toSorted();
      const files = {
        "terms/above.txt": lines(...terms.slice(0, 3)),
        "terms/below.txt": lines(...terms.slice(3)),
        "rules.txt": lines(
          "1. Entries are sorted by term.",
          "2. An entry is one line: the term in bold, a colon, and a definition: **term**: Definition.",
          `3. A definition is one sentence of 5 to ${most} words. It begins with a capital letter and ends with a full stop.`,
          "4. A definition does not use its own term.",
          "5. Each definition but the first uses at least one other term of the list, in the form it has there.",
          "6. Between entries stands an empty line.",
        ),
      };
      const entry = (term: string, at: number): string =>
        `**${term}**: ${at === 0 ? "Part of a ship that sailors know well." : `A thing on ships that is not the ${sorted[at - 1]}.`}`;
      const text = (list: readonly string[]): string => `${list.join("\n\n")}\n`;
      const entries = sorted.map(entry);
      return {
        prompt:
          "Write glossary.md for the terms in the files of the folder terms, by all the rules in rules.txt and with nothing but the entries. Write terms.json too: the sorted list of all terms. Leave the other files as they are.",
        files,
        check: ({ files: after }) => {
          const found = filled(after["glossary.md"]);
          const order = found.map((line) => /^\*\*(\w+)\*\*: /.exec(line)?.[1] ?? "?");
          const problems =
            order.join() === sorted.join() ? [] : [`glossary.md has the entries ${order.join(", ")}`];
          const lonely =
            found.length > 0 && after["glossary.md"]!.trim() !== found.join("\n\n") ? ["empty lines"] : [];
          const wrong = found.flatMap((line, at) => {
            const definition = line.replace(/^\*\*\w+\*\*: /, "");
            const words = wordsIn(definition.toLowerCase());
            const own = sorted[at]!;
            return [
              ...(words.length >= 5 && words.length <= most ? [] : [`${own}: ${words.length} words`]),
              ...(/^\p{Lu}[^.!?]*\.$/u.test(definition) ? [] : [`${own}: not one sentence`]),
              ...(words.includes(own) ? [`${own} uses itself`] : []),
              ...(at > 0 && !sorted.some((term) => term !== own && words.includes(term))
                ? [`${own} uses no other term`]
                : []),
            ];
          });
          return [
            ...problems,
            ...lonely,
            ...wrong,
            ...jsonIs(after, "terms.json", sorted),
            ...touched(files, after),
          ];
        },
        solution: { "glossary.md": text(entries), "terms.json": json(sorted) },
        mistake: {
          "terms.json": json(sorted),
          "glossary.md": text(
            entries.map((line, at) =>
              at === 3 ? `**${sorted[3]}**: A thing on ships that many people like.` : line,
            ),
          ),
        },
      };
    },
  },
  {
    id: "schedule",
    kind: "writing",
    assign: (random) => {
      const talks = random.shuffle(["Atoms", "Birds", "Clouds", "Dunes", "Engines", "Frost"]);
      const [a, b, c, d, e, f] = talks as [string, string, string, string, string, string];
      const slots = ["09:00", "10:00", "11:00", "13:00", "14:00", "15:00"];
      const files = {
        "talks.csv": lines(
          "talk,speaker",
          ...talks
            .toSorted()
            .map((talk) => `${talk},${talk === b ? "Ines" : talk === e ? "Ines" : `Dr ${talk[0]}`}`),
        ),
        "slots.txt": lines(...slots),
        "wishes.txt": lines(
          `${a} has to be the first talk.`,
          `${c} has to come directly after ${b}.`,
          `${d} has to be before noon.`,
          `${f} has to come after ${e}.`,
          "The two talks of Ines must not follow each other directly.",
          `${e} must not be before noon.`,
        ),
      };
      // Other orders keep the wishes too; any of them will do.
      const right = [a, d, b, c, e, f];
      const wrong = [a, d, b, c, f, e];
      const plan = (order: readonly string[]): string =>
        lines(...order.map((talk, at) => `${slots[at]} ${talk}`));
      return {
        prompt:
          "Make a programme for the talks in talks.csv: one talk in each of the slots in slots.txt, so that every wish in wishes.txt is kept. Write programme.txt with one line per slot, in the order of time, such as 09:00 Atoms; and order.json, the list of the talks in that order. Leave the other files as they are.",
        files,
        check: ({ files: after }) => {
          const order = filled(after["programme.txt"]).map((line) => line.slice(6).trim());
          const at = (talk: string): number => order.indexOf(talk);
          const isComplete = order.toSorted().join() === talks.toSorted().join();
          const times = filled(after["programme.txt"]).map((line) => line.slice(0, 5));
          const wishes: Record<string, boolean> = {
            "every talk once": isComplete,
            "every slot in order": times.join() === slots.join(),
            [`${a} first`]: at(a) === 0,
            [`${c} after ${b}`]: at(c) === at(b) + 1,
            [`${d} before noon`]: at(d) < 3,
            [`${f} after ${e}`]: at(f) > at(e),
            "Ines not twice in a row": Math.abs(at(b) - at(e)) > 1,
            [`${e} in the afternoon`]: at(e) >= 3,
          };
          const broken = Object.entries(wishes).flatMap(([wish, isKept]) =>
            isKept ? [] : [`not kept: ${wish}`],
          );
          return [...broken, ...jsonIs(after, "order.json", order), ...touched(files, after)];
        },
        solution: { "programme.txt": plan(right), "order.json": json(right) },
        mistake: { "programme.txt": plan(wrong), "order.json": json(wrong) },
      };
    },
  },
  {
    id: "readme",
    kind: "writing",
    assign: (random) => {
      const tool = random.pick(["tally", "sorter", "mapper"]);
      const most = random.between(60, 72);
      const options = random.shuffle(["--dry-run", "--force", "--quiet", "--limit"]).slice(0, 3);
      const files = {
        [`src/${tool}.mjs`]: lines(
          `// ${tool}: counts the lines of text files`,
          ...options.map(
            (option) => `if (process.argv.includes("${option}")) console.log("${option.slice(2)}");`,
          ),
          'import { EXIT_CODES } from "./exit-codes.mjs";',
          "process.exitCode = EXIT_CODES.ok;",
        ),
        "src/exit-codes.mjs": "export const EXIT_CODES = { badOption: 64, ok: 0, noFiles: 3 };\n",
        "package.json": json({
          name: tool,
          version: `1.${random.between(1, 9)}.2`,
          license: "MIT",
          engines: { node: ">=20" },
        }),
        "rules.txt": lines(
          "The README has exactly these headings, in this order: # NAME, ## Install, ## Options, ## Exit codes, ## License.",
          `No line is longer than ${most} characters.`,
          "Under Options stands one line for each option of the program and no other, such as - `--x`: what it does, sorted by the alphabet.",
          "Under Exit codes stands a table with the columns code and meaning: one row for each code, the lowest first.",
          "Under Install stand the version of the package and the Node.js version that it needs.",
          "Under License stands one line with the name of the license.",
        ),
      };
      const version = (JSON.parse(files["package.json"]) as { version: string }).version;
      const readme = (codes: readonly number[]): string =>
        lines(
          `# ${tool}`,
          "",
          "Counts the lines of text files.",
          "",
          "## Install",
          "",
          `Version ${version} needs Node.js 20 or newer.`,
          "",
          "## Options",
          "",
          ...options.toSorted().map((option) => `- \`${option}\`: says ${option.slice(2)}`),
          "",
          "## Exit codes",
          "",
          "| code | meaning |",
          "| --- | --- |",
          ...codes.map((code) => `| ${code} | see the source |`),
          "",
          "## License",
          "",
          "MIT",
        );
      return {
        prompt: `Write README.md for the program in src/${tool}.mjs, by all the rules in rules.txt; NAME is the name of the package. Leave the other files as they are.`,
        files,
        check: ({ files: after }) => {
          const text = after["README.md"] ?? "";
          const all = text.split("\n");
          const headings = all.filter((line) => line.startsWith("#")).join();
          const part = (title: string): string[] => {
            const from = all.indexOf(title);
            const rest = from < 0 ? [] : all.slice(from + 1);
            const to = rest.findIndex((line) => line.startsWith("#"));
            return filled(rest.slice(0, to < 0 ? undefined : to).join("\n"));
          };
          const codes = part("## Exit codes").flatMap((line) => /^\|\s*`?(\d+)`?\s*\|/.exec(line)?.[1] ?? []);
          const named = part("## Options").map((line) => /^[-*] `(--[\w-]+)`: ./.exec(line)?.[1] ?? "?");
          const rules: Record<string, boolean> = {
            headings: headings === `# ${tool},## Install,## Options,## Exit codes,## License`,
            "length of lines": all.every((line) => line.length <= most),
            options: named.join() === options.toSorted().join(),
            "exit codes": codes.join() === "0,3,64",
            install:
              part("## Install").join(" ").includes(version) && /\b20\b/.test(part("## Install").join(" ")),
            license: part("## License").length === 1 && part("## License")[0]!.includes("MIT"),
          };
          const broken = Object.entries(rules).flatMap(([rule, isKept]) =>
            isKept ? [] : [`not kept: ${rule}`],
          );
          return [...broken, ...touched(files, after)];
        },
        solution: { "README.md": readme([0, 3, 64]) },
        mistake: { "README.md": readme([0, 64]) },
      };
    },
  },
];
