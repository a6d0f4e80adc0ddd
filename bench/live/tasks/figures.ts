import { csv, json, jsonIs, lines, touched, type LiveTask, type Random } from "./task.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Figures that have to be worked out from several tables. Whole numbers only: nobody is to fail by rounding. */
export const FIGURES_TASKS: readonly LiveTask[] = [
  {
    id: "revenue-by-region",
    kind: "figures",
    assign: (random) => {
      const regions = random.shuffle(["north", "south", "east", "west"]);
      const rowsOf = (quarter: number) =>
        Array.from({ length: 14 }, (_, at) => ({
          date: `2025-${String(quarter * 3 - 2 + (at % 3)).padStart(2, "0")}-${String(at + 10)}`,
          region: at < 4 ? regions[at]! : random.pick(regions),
          units: random.between(1, 20),
          price: random.between(3, 60),
          state: at === 2 || random.between(1, 5) === 1 ? "returned" : "sold",
        }));
      const quarters = [1, 2, 3, 4].map(rowsOf);
      const totals = (isCounted: (state: string) => boolean): Record<string, number> =>
        Object.fromEntries(
          regions.map((region) => [
            region,
            sum(
              quarters
                .flat()
                .filter((row) => row.region === region && isCounted(row.state))
                .map(({ units, price }) => units * price),
            ),
          ]),
        );
      const right = totals((state) => state === "sold");
      const best = (of: Record<string, number>): string =>
        Object.entries(of).toSorted(([, a], [, b]) => b - a)[0]![0];
      const files = Object.fromEntries(
        quarters.map((rows, at) => [
          `sales/q${at + 1}.csv`,
          csv(
            "date,region,units,price,state",
            rows.map((row) => Object.values(row)),
          ),
        ]),
      );
      const results = (of: Record<string, number>) => ({
        "revenue.json": json(of),
        "best.txt": `${best(of)}\n`,
      });
      return {
        prompt:
          "The folder sales has one table per quarter. Work out the revenue of each region over the whole year, that is units times price; rows with the state returned do not count. Write it to revenue.json as an object from region to number, and write the name of the region with the highest revenue, alone, to best.txt. Leave the tables as they are.",
        files,
        check: ({ files: after }) => [
          ...jsonIs(after, "revenue.json", right),
          ...(after["best.txt"]?.trim() === best(right) ? [] : [`best.txt is not ${best(right)}`]),
          ...touched(files, after),
        ],
        solution: results(right),
        mistake: results(totals(() => true)),
      };
    },
  },
  {
    id: "top-customers",
    kind: "figures",
    assign: (random) => {
      const names = random.shuffle(["Abel", "Bauer", "Costa", "Dunn", "Ekman", "Fox"]);
      const customers = names.map((name, at) => ({ id: `c${at + 1}`, name }));
      const orders = Array.from({ length: 24 }, (_, at) => ({
        id: `o${at + 1}`,
        customer: customers[at % 6]!.id,
        // Far apart, so that there are no ties.
        amount: 100 * random.between(2, 9) + at,
      }));
      const refunds = random.shuffle(orders).slice(0, 8);
      const net = (back: readonly { id: string }[]) =>
        customers
          .map(({ id, name }) => {
            const own = orders.filter(
              ({ customer, id: order }) => customer === id && !back.some((one) => one.id === order),
            );
            return { name, net: sum(own.map(({ amount }) => amount)), orders: own.length };
          })
          .toSorted((a, b) => b.net - a.net)
          .slice(0, 3);
      const files = {
        "customers.csv": csv(
          "id,name",
          customers.map(({ id, name }) => [id, name]),
        ),
        "orders-1.csv": csv(
          "id,customer,amount",
          orders.slice(0, 12).map((row) => Object.values(row)),
        ),
        "orders-2.csv": csv(
          "id,customer,amount",
          orders.slice(12).map((row) => Object.values(row)),
        ),
        "refunds.csv": csv(
          "order,reason",
          refunds.map(({ id }) => [id, random.pick(["late", "broken"])]),
        ),
      };
      return {
        prompt:
          'Find the three customers with the highest net amount. Orders are in orders-1.csv and orders-2.csv; an order that is listed in refunds.csv was paid back in full and does not count at all. Write top.json: a list of { "name", "net", "orders" } with the highest first, where orders is the number of orders that count. Leave the tables as they are.',
        files,
        check: ({ files: after }) => [...jsonIs(after, "top.json", net(refunds)), ...touched(files, after)],
        solution: { "top.json": json(net(refunds)) },
        mistake: { "top.json": json(net([])) },
      };
    },
  },
  {
    id: "stock-balance",
    kind: "figures",
    assign: (random) => {
      const articles = random.shuffle(["bolt", "nut", "screw", "washer", "hinge", "bracket"]);
      const opening = articles.map((name) => [name, random.between(40, 90)] as const);
      const moves = (count: number, most: number) =>
        Array.from({ length: count }, () => [random.pick(articles), random.between(1, most)] as const);
      const [may, june, shipped] = [moves(7, 30), moves(7, 30), moves(16, 12)];
      const levels = articles.map((name) => [name, random.between(60, 110)] as const);
      const balance = (...deliveries: (typeof may)[]) =>
        opening
          .map(([name, quantity]) => {
            const of = (rows: readonly (readonly [string, number])[]): number =>
              sum(rows.filter(([one]) => one === name).map(([, count]) => count));
            return [name, quantity + sum(deliveries.map(of)) - of(shipped)] as const;
          })
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
      const results = (rows: readonly (readonly [string, number])[]) => ({
        "stock.csv": csv("article,quantity", rows),
        "reorder.json": json(
          rows
            .filter(([name, quantity]) => quantity < levels.find(([one]) => one === name)![1])
            .map(([name]) => name),
        ),
      });
      const right = results(balance(may, june));
      const files = {
        "opening.csv": csv("article,quantity", opening),
        "deliveries/may.csv": csv("article,quantity", may),
        "deliveries/june.csv": csv("article,quantity", june),
        "shipments.csv": csv("article,quantity", shipped),
        "levels.csv": csv("article,minimum", levels),
      };
      return {
        prompt:
          "Work out the stock at the end of June: what was there (opening.csv), plus all deliveries (the folder deliveries), minus all shipments (shipments.csv). Write stock.csv with the columns article,quantity, sorted by article; and reorder.json, a sorted list of the articles of which there is less than the minimum in levels.csv. Leave the other files as they are.",
        files,
        check: ({ files: after }) => [
          ...(after["stock.csv"]?.trim() === right["stock.csv"].trim() ? [] : ["stock.csv is not right"]),
          ...jsonIs(after, "reorder.json", JSON.parse(right["reorder.json"])),
          ...touched(files, after),
        ],
        solution: right,
        mistake: results(balance(may)),
      };
    },
  },
  {
    id: "overtime",
    kind: "figures",
    assign: (random) => {
      const people = random.shuffle(["Ada", "Ben", "Cleo", "Dan"]);
      const week = () => people.flatMap((name) => days(name, random));
      const weeks = [week(), week(), week(), week()];
      const hoursIn = (rows: ReturnType<typeof week>, name: string): number =>
        sum(rows.filter((row) => row.name === name).map(({ hours }) => hours));
      const table = (overtimeOf: (name: string) => number) =>
        Object.fromEntries(
          people.map((name) => [name, { total: hoursIn(weeks.flat(), name), overtime: overtimeOf(name) }]),
        );
      const right = table((name) => sum(weeks.map((rows) => Math.max(0, hoursIn(rows, name) - 40))));
      const files = Object.fromEntries(
        weeks.map((rows, at) => [
          `week-${at + 1}.csv`,
          csv(
            "name,day,hours",
            rows.map(({ name, day, hours }) => [name, day, hours]),
          ),
        ]),
      );
      return {
        prompt: lines(
          'Four weeks of hours are in week-1.csv to week-4.csv. Write hours.json: an object from name to { "total", "overtime" }. total is all hours; overtime is what a person worked above 40 hours in a week, added up over the weeks. A short week does not make up for a long one.',
          "Leave the tables as they are.",
        ),
        files,
        check: ({ files: after }) => [...jsonIs(after, "hours.json", right), ...touched(files, after)],
        solution: { "hours.json": json(right) },
        mistake: {
          "hours.json": json(table((name) => Math.max(0, hoursIn(weeks.flat(), name) - 160))),
        },
      };
    },
  },
];

/** A person's week: long for some, short for others, so that the two ways to count differ. */
function days(name: string, random: Random) {
  const isLong = random.between(0, 1) === 1;
  return ["Mon", "Tue", "Wed", "Thu", "Fri"].map((day) => ({
    name,
    day,
    hours: random.between(isLong ? 8 : 5, isLong ? 11 : 8),
  }));
}
