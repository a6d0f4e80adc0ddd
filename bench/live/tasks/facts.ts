import { json, jsonIs, lines, touched, type LiveTask } from "./task.ts";

const PEOPLE = ["Ada Novak", "Bruno Silva", "Chen Li", "Dora Weiss", "Emil Krantz", "Fatma Yilmaz"];
const two = (number: number): string => String(number).padStart(2, "0");

/** Facts that stand in several documents, in the words of people. */
export const FACTS_TASKS: readonly LiveTask[] = [
  {
    id: "action-items",
    kind: "facts",
    assign: (random) => {
      const people = random.shuffle(PEOPLE);
      const jobs = random.shuffle([
        "order new badges",
        "book the hall",
        "call the printer",
        "update the budget",
        "test the backup",
        "write to the landlord",
      ]);
      const items = jobs.map((task, at) => ({
        task,
        owner: people[at % 4]!,
        due: `2025-0${(at % 3) + 4}-${two(random.between(1, 28))}`,
      }));
      const [moved, dropped] = [items[1]!, items[4]!];
      const later = `2025-07-${two(random.between(1, 28))}`;
      const note = (day: string, body: string[]): string => lines(`Meeting of ${day}`, "", ...body);
      const say = ({ task, owner, due }: (typeof items)[number]): string =>
        `${owner.split(" ")[0]} will ${task}, by ${due}.`;
      const files = {
        "notes/march.txt": note("2025-03-03", [
          "Weather was bad, nine people came.",
          say(items[0]!),
          say(moved),
          `Present: ${people.slice(0, 4).join(", ")}.`,
        ]),
        "notes/april.txt": note("2025-04-07", [
          say(items[2]!),
          "The coffee machine was discussed at length.",
          say(items[3]!),
          say(dropped),
        ]),
        "notes/may.txt": note("2025-05-05", [
          `${moved.owner.split(" ")[0]} needs more time to ${moved.task}: now by ${later}.`,
          `Nobody has to ${dropped.task} any more.`,
          say(items[5]!),
        ]),
      };
      const result = (isLatest: boolean) =>
        items
          .filter((item) => !isLatest || item !== dropped)
          .map((item) => (isLatest && item === moved ? { ...item, due: later } : item))
          .toSorted((a, b) => (a.due < b.due || (a.due === b.due && a.task < b.task) ? -1 : 1));
      const load = (isLatest: boolean): Record<string, number> => {
        const counts: Record<string, number> = {};
        for (const { owner } of result(isLatest)) counts[owner] = (counts[owner] ?? 0) + 1;
        return counts;
      };
      return {
        prompt:
          'Read the notes of three meetings in the folder notes and write actions.json: a list of what is still to be done, each { "task", "owner", "due" }, sorted by due date. task is what the person will do, in the words of the notes without "will" (such as "book the hall"); owner is the full name, which the list of those present has; later meetings change or drop what earlier ones decided. Write load.json too: an object from owner to the number of tasks that are still theirs. Leave the notes as they are.',
        files,
        check: ({ files: after }) => [
          ...jsonIs(after, "actions.json", result(true)),
          ...jsonIs(after, "load.json", load(true)),
          ...touched(files, after),
        ],
        solution: { "actions.json": json(result(true)), "load.json": json(load(true)) },
        mistake: { "actions.json": json(result(false)), "load.json": json(load(false)) },
      };
    },
  },
  {
    id: "incidents",
    kind: "facts",
    assign: (random) => {
      const systems = random.shuffle(["mail", "shop", "login", "search", "billing"]);
      const incidents = systems.map((system, at) => {
        // No two take equally long, with the correction neither.
        const minutes = random.between(2, 16) * 10 + at;
        const start = random.between(1, 20) * 60 + random.between(0, 59);
        return { system, at, minutes, start, affected: random.between(1, 90) * 10, customers: at % 2 === 0 };
      });
      const time = (minutes: number): string => `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
      const files = Object.fromEntries(
        incidents.map(({ system, minutes, start, affected, customers, at }) => [
          `incidents/2025-0${at + 1}.md`,
          lines(
            `# ${system} was down`,
            "",
            `At ${time(start)} the first alarm came from ${system}. ${at === 2 ? "Nobody saw it at once. " : ""}The team met ten minutes later.`,
            `Everything was normal again at ${time(start + minutes)}.`,
            customers ? `${affected} customers noticed it.` : `Only staff noticed it, ${affected} people.`,
            at === 3 ? "Correction: the end was five minutes later than written above." : "No follow-up.",
          ),
        ]),
      );
      const table = (correction: number) => {
        const rows = incidents.map(({ system, minutes, affected, customers, at }) => ({
          system,
          month: `2025-0${at + 1}`,
          minutes: minutes + (at === 3 ? correction : 0),
          customers: customers ? affected : 0,
        }));
        const longest = rows.toSorted((a, b) => b.minutes - a.minutes)[0]!.system;
        return { incidents: rows, minutes: rows.reduce((sum, row) => sum + row.minutes, 0), longest };
      };
      return {
        prompt:
          'Read the reports in incidents (one per month) and write summary.json: { "incidents": [{ "system", "month", "minutes", "customers" }], "minutes", "longest" }. The list is in order of months; month is the name of the file, such as 2025-01; minutes is how long it took from the first alarm until everything was normal, corrections counted; customers is how many customers noticed it, 0 if only staff did. Below that: minutes of all incidents together, and the system with the longest one. Leave the reports as they are.',
        files,
        check: ({ files: after }) => [...jsonIs(after, "summary.json", table(5)), ...touched(files, after)],
        solution: { "summary.json": json(table(5)) },
        mistake: { "summary.json": json(table(0)) },
      };
    },
  },
  {
    id: "contracts",
    kind: "facts",
    assign: (random) => {
      const partners = random.shuffle(["Alder Ltd", "Birch GmbH", "Cedar SA", "Dogwood Inc", "Elm Oy"]);
      const contracts = partners.map((partner, at) => ({
        partner,
        year: random.between(2022, 2024),
        month: random.between(1, 12),
        term: random.pick([12, 24, 36]),
        fee: random.between(10, 90) * 100,
        notice: random.pick([1, 2, 3]),
        raised: at === 1 || at === 3,
        at,
      }));
      const day = (year: number, month: number): string => {
        const index = year * 12 + month - 1;
        return `${Math.floor(index / 12)}-${two((index % 12) + 1)}-01`;
      };
      const files = Object.fromEntries(
        contracts.flatMap(({ partner, year, month, term, fee, notice, raised, at }) => [
          [
            `contracts/${at + 1}.txt`,
            lines(
              `Agreement with ${partner}`,
              "",
              `1. It begins on ${day(year, month)} and runs for ${term} months.`,
              `2. The yearly fee is ${fee} euros.`,
              `3. Notice has to be given ${notice} ${notice === 1 ? "month" : "months"} before the end at the latest.`,
            ),
          ],
          ...(raised
            ? [
                [
                  `contracts/${at + 1}-amendment.txt`,
                  lines(
                    `Amendment to the agreement with ${partner}`,
                    "",
                    `The yearly fee is ${fee + 500} euros from now on. All else stays.`,
                  ),
                ],
              ]
            : []),
        ]),
      ) as Record<string, string>;
      const table = (isAmended: boolean) =>
        contracts
          .map(({ partner, year, month, term, fee, notice, raised }) => ({
            partner,
            ends: day(year, month + term),
            noticeBy: day(year, month + term - notice),
            fee: fee + (raised && isAmended ? 500 : 0),
          }))
          .toSorted((a, b) => (a.partner < b.partner ? -1 : 1));
      return {
        prompt:
          'Read the contracts and amendments in the folder contracts and write contracts.json: a list of { "partner", "ends", "noticeBy", "fee" } sorted by partner. ends is the first day after the term (a contract from 2024-01-01 over 12 months ends 2025-01-01), noticeBy the day that lies as many months before that as the notice takes, and fee the yearly fee that holds now. Leave the contracts as they are.',
        files,
        check: ({ files: after }) => [
          ...jsonIs(after, "contracts.json", table(true)),
          ...touched(files, after),
        ],
        solution: { "contracts.json": json(table(true)) },
        mistake: { "contracts.json": json(table(false)) },
      };
    },
  },
  {
    id: "product-sheets",
    kind: "facts",
    assign: (random) => {
      const names = random.shuffle(["Lark", "Finch", "Robin", "Wren", "Swift"]);
      const products = names.map((name, at) => ({
        name,
        grams: random.between(11, 39) * 100,
        hours: random.between(5, 19),
        // Apart from each other: one is the cheapest.
        price: 300 + random.between(0, 20) * 10 + at,
        waterproof: at % 2 === 1,
      }));
      const weights = [
        (grams: number) => `It weighs ${grams / 1000} kg.`,
        (grams: number) => `Weight: ${grams} g`,
      ];
      const files = Object.fromEntries(
        products.map(({ name, grams, hours, price, waterproof }, at) => [
          `sheets/${name.toLowerCase()}.md`,
          lines(
            `# ${name}`,
            "",
            weights[at % 2]!(grams),
            at % 3 === 0 ? `The battery lasts ${hours * 60} minutes.` : `Battery: ${hours} hours`,
            `Price: ${price} euros${at === 2 ? ", now 50 euros less" : ""}`,
            waterproof ? "You can swim with it." : "Keep it dry.",
          ),
        ]),
      );
      const table = (discount: number) => {
        const rows = products
          .map((product, at) => ({ ...product, price: product.price - (at === 2 ? discount : 0) }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1));
        const best = (than: (a: (typeof rows)[number], b: (typeof rows)[number]) => number): string =>
          rows.toSorted(than)[0]!.name;
        return {
          products: rows,
          cheapest: best((a, b) => a.price - b.price),
          waterproof: rows.filter(({ waterproof }) => waterproof).map(({ name }) => name),
        };
      };
      return {
        prompt:
          'Compare the products in the folder sheets: write compare.json with { "products": [{ "name", "grams", "hours", "price", "waterproof" }], "cheapest", "waterproof" }. Products are sorted by name; grams, hours of battery and the price that holds now are numbers; waterproof is true or false. cheapest is a name; the last is the list of the names of those that are waterproof. Leave the sheets as they are.',
        files,
        check: ({ files: after }) => [...jsonIs(after, "compare.json", table(50)), ...touched(files, after)],
        solution: { "compare.json": json(table(50)) },
        mistake: { "compare.json": json(table(0)) },
      };
    },
  },
];
