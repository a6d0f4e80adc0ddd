import { changed, json, jsonIs, lines, touched, type Changes, type Files, type LiveTask } from "./task.ts";

/** Files that have to be put in order, with nothing lost and nothing left over. */
export const FOLDERS_TASKS: readonly LiveTask[] = [
  {
    id: "invoices-by-year",
    kind: "folders",
    assign: (random) => {
      const partners = random.shuffle(["acme", "bolt", "crane", "delta", "echo", "fjord", "gala", "hill"]);
      const invoices = partners.map((partner, at) => {
        const date = `${2022 + (at % 3)}-0${random.between(1, 9)}-1${random.between(0, 9)}`;
        const number = 100 + at * 7;
        return { partner, date, text: lines(`Invoice ${number}`, `Date: ${date}`, `To: ${partner}`), number };
      });
      const files = Object.fromEntries(
        invoices.map(({ number, text }) => [`inbox/scan-${number}.txt`, text]),
      );
      const place = ({ partner, date }: (typeof invoices)[number]): string =>
        `${date.slice(0, 4)}/${date}-${partner}.txt`;
      const counts: Record<string, number> = {};
      for (const { date } of invoices) counts[date.slice(0, 4)] = (counts[date.slice(0, 4)] ?? 0) + 1;
      const solution: Changes = {
        ...Object.fromEntries(invoices.map(({ number }) => [`inbox/scan-${number}.txt`, undefined])),
        ...Object.fromEntries(invoices.map((invoice) => [place(invoice), invoice.text])),
        "counts.json": json(counts),
      };
      const wanted = changed(files, solution);
      return {
        prompt:
          "Sort the invoices in inbox: move each to YEAR/DATE-PARTNER.txt, such as 2023/2023-05-17-acme.txt, by the date and the partner that stand in it. Their texts stay as they are, and inbox is to be empty or gone. Write counts.json, an object from year to the number of its invoices.",
        files,
        check: ({ files: after }) => [
          ...differences(after, wanted, ["counts.json"]),
          ...jsonIs(after, "counts.json", counts),
        ],
        solution,
        mistake: { ...solution, [`inbox/scan-${invoices[5]!.number}.txt`]: invoices[5]!.text },
      };
    },
  },
  {
    id: "documents-by-type",
    kind: "folders",
    assign: (random) => {
      const titles = random.shuffle(["Backups", "Coffee", "Doors", "Heating", "Keys", "Parking", "Visitors"]);
      const types = ["guide", "policy", "form"];
      const documents = titles.map((title, at) => ({
        title,
        type: types[at % 3]!,
        isDraft: at === 4,
        text: lines(
          "---",
          `title: ${title}`,
          `type: ${types[at % 3]}`,
          ...(at === 4 ? ["draft: true"] : []),
          "---",
          `About ${title.toLowerCase()}.`,
        ),
      }));
      const name = (title: string): string => `${title.toLowerCase()}.md`;
      const files = Object.fromEntries(documents.map(({ title, text }) => [name(title), text]));
      const place = ({ title, type, isDraft }: (typeof documents)[number]): string =>
        isDraft ? `drafts/${name(title)}` : `${type}/${name(title)}`;
      const index = lines(
        "# Index",
        ...documents
          .filter(({ isDraft }) => !isDraft)
          .map((document) => `- [${document.title}](${place(document)})`)
          .toSorted(),
      );
      const solution: Changes = {
        ...Object.fromEntries(documents.map(({ title }) => [name(title), undefined])),
        ...Object.fromEntries(documents.map((document) => [place(document), document.text])),
        "index.md": index,
      };
      const wanted = changed(files, solution);
      const draft = documents[4]!;
      return {
        prompt:
          "Each document here says its type at its head. Move it into the folder of that name, such as guide/keys.md; drafts go to drafts instead, whatever their type. The texts stay as they are. Then write index.md: the line # Index, and below it one line per document that is no draft, such as - [Keys](guide/keys.md), sorted by title, without empty lines.",
        files,
        check: ({ files: after }) => [
          ...differences(after, wanted, ["index.md"]),
          ...(after["index.md"]?.trimEnd() === index.trimEnd() ? [] : ["index.md is not right"]),
        ],
        solution,
        mistake: {
          ...solution,
          [place(draft)]: undefined,
          [`${draft.type}/${name(draft.title)}`]: draft.text,
        },
      };
    },
  },
  {
    id: "duplicates",
    kind: "folders",
    assign: (random) => {
      const texts = random
        .shuffle(["alpha", "beta", "gamma", "delta"])
        .map((word) => lines(`${word} ${random.between(100, 999)}`, "end"));
      const all: [string, string][] = [
        ["a/one.txt", texts[0]!],
        ["a/two.txt", texts[1]!],
        ["b/one.txt", texts[2]!],
        ["b/deep/copy.txt", texts[0]!],
        ["b/three.txt", texts[1]!],
        ["c/last.txt", texts[3]!],
        ["c/one-copy.txt", texts[0]!],
      ];
      const files: Files = Object.fromEntries(all);
      const kept = new Map<string, string>();
      const removed: Record<string, string> = {};
      for (const [path, text] of all.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
        const first = kept.get(text);
        if (first === undefined) kept.set(text, path);
        else removed[path] = first;
      }
      const solution: Changes = {
        ...Object.fromEntries(Object.keys(removed).map((path) => [path, undefined])),
        "removed.json": json(removed),
      };
      const wanted = changed(files, solution);
      return {
        prompt:
          "Some files in the folders a, b and c have exactly the same text, whatever they are called; files of the same name may differ. Of each group of equal files keep the one whose path comes first in alphabetical order and delete the others. Write removed.json: an object from the path of each deleted file, such as b/x.txt, to the path of the one that was kept.",
        files,
        check: ({ files: after }) => [
          ...differences(after, wanted, ["removed.json"]),
          ...jsonIs(after, "removed.json", removed),
        ],
        solution,
        mistake: { ...solution, "b/one.txt": undefined },
      };
    },
  },
  {
    id: "split-archive",
    kind: "folders",
    assign: (random) => {
      const names = random.shuffle(["ash", "bay", "cob", "dun", "elk", "fir"]);
      const entries = names.map((name, at) => ({
        name,
        group: ["red", "blue"][at % 2]!,
        body: [`${name} has ${random.between(2, 90)} parts.`, `It stands in row ${random.between(1, 9)}.`],
        isOld: at === 1 || at === 4,
      }));
      const archive = lines(
        ...entries.flatMap(({ name, group, body, isOld }) => [
          `=== ${group}/${name}${isOld ? " (old)" : ""}`,
          ...body,
        ]),
      );
      const files = {
        "archive.txt": archive,
        "groups.txt": lines("red: warm colours", "blue: cold colours"),
      };
      const path = ({ name, group, isOld }: (typeof entries)[number]): string =>
        isOld ? `old/${name}.txt` : `${group}/${name}.txt`;
      const solution: Changes = {
        "archive.txt": undefined,
        ...Object.fromEntries(entries.map((entry) => [path(entry), lines(...entry.body)])),
        ...Object.fromEntries(
          ["red", "blue"].map((group) => [
            `${group}/README.md`,
            lines(
              `# ${group === "red" ? "warm" : "cold"} colours`,
              ...entries
                .filter((entry) => entry.group === group && !entry.isOld)
                .map(({ name }) => `- ${name}`)
                .toSorted(),
            ),
          ]),
        ),
      };
      const wanted = changed(files, solution);
      return {
        prompt:
          "Split archive.txt: each entry begins with a line such as === red/ash and becomes a file red/ash.txt with the lines below it; entries that are marked (old) become old/NAME.txt instead. Delete archive.txt. In each of the folders red and blue write README.md: # and the description of the group from groups.txt, and below it, without an empty line, one line - NAME for each entry in that folder, sorted. Leave groups.txt as it is.",
        files,
        check: ({ files: after }) => [
          ...differences(after, wanted),
          ...touched(files, after, ["groups.txt"]),
        ],
        solution,
        mistake: {
          ...solution,
          [path(entries[1]!)]: undefined,
          [`${entries[1]!.group}/${entries[1]!.name}.txt`]: lines(...entries[1]!.body),
        },
      };
    },
  },
];

/** Files that are missing, wrong or should not be there. `loose` ones are only looked for. */
function differences(found: Files, wanted: Files, loose: readonly string[] = []): string[] {
  const missing = Object.entries(wanted).flatMap(([path, text]) => {
    if (found[path] === undefined) return [`${path} is missing`];
    return loose.includes(path) || found[path].trimEnd() === text.trimEnd() ? [] : [`${path} is not right`];
  });
  const extra = Object.keys(found).filter((path) => wanted[path] === undefined);
  return [...missing, ...extra.map((path) => `${path} should not be there`)];
}
