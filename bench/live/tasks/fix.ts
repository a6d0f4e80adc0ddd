import { codeTask, type TaskModule } from "./code-task.ts";
import { lines, type LiveTask } from "./task.ts";

const prompt = (names: string): string =>
  `The tests in test fail: each of ${names} has a fault. SPEC.md says what the modules have to do. Mend the modules until all tests pass (node --test test/), and look whether they do what SPEC.md says where no test looks. Do not change the tests.`;

/** A module that is right but for one piece of its text. */
function faulty(module: Omit<TaskModule, "given"> & { piece: string; fault: string }): TaskModule {
  const { piece, fault, ...rest } = module;
  return { ...rest, given: rest.right.replace(piece, fault) };
}

/** Programs with a fault in every module. */
export const FIX_TASKS: readonly LiveTask[] = [
  codeTask({
    id: "fix-dates",
    kind: "fix",
    prompt,
    modules: (random) => {
      const year = random.pick([2023, 2025, 2027]);
      return [
        faulty({
          name: "leap",
          does: "`isLeap(year)`: whether a year of the Gregorian calendar has 366 days.",
          right: lines(
            "export function isLeap(year) {",
            "  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;",
            "}",
          ),
          piece: " && year % 100 !== 0) || year % 400 === 0",
          fault: ")",
          examples: [
            ["leap.isLeap(2024)", true],
            ["leap.isLeap(1900)", false],
            ["leap.isLeap(2000)", true],
          ],
        }),
        faulty({
          name: "span",
          does: "`daysBetween(from, to)`: how many days lie between two dates such as `2025-01-31`, both included; 0 when `to` is before `from`.",
          right: lines(
            "const DAY = 24 * 60 * 60 * 1000;",
            "",
            "export function daysBetween(from, to) {",
            "  return Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY + 1);",
            "}",
          ),
          piece: " / DAY + 1",
          fault: " / DAY",
          examples: [
            [`span.daysBetween("${year}-02-27", "${year}-03-02")`, 4],
            [`span.daysBetween("${year}-02-27", "${year}-02-27")`, 1],
            [`span.daysBetween("${year}-05-02", "${year}-05-01")`, 0],
          ],
        }),
        faulty({
          name: "weekday",
          does: "`nextWorkday(date)`: the first day after `date` that is no Saturday and no Sunday, as `YYYY-MM-DD`, in UTC.",
          right: lines(
            "export function nextWorkday(date) {",
            "  const day = new Date(`${date}T00:00:00Z`);",
            "  do day.setUTCDate(day.getUTCDate() + 1);",
            "  while (day.getUTCDay() % 6 === 0);",
            "  return day.toISOString().slice(0, 10);",
            "}",
          ),
          piece: "day.getUTCDay() % 6 === 0",
          fault: "day.getUTCDay() === 6",
          examples: [
            ['weekday.nextWorkday("2025-01-03")', "2025-01-06"],
            ['weekday.nextWorkday("2025-01-06")', "2025-01-07"],
            ['weekday.nextWorkday("2025-05-31")', "2025-06-02"],
          ],
        }),
      ];
    },
  }),
  codeTask({
    id: "fix-parsers",
    kind: "fix",
    prompt,
    modules: () => [
      faulty({
        name: "cells",
        does: "Reads one line of comma-separated values: `readCells(line)`. A cell in double quotes may hold commas; two double quotes in it stand for one.",
        right: lines(
          "export function readCells(line) {",
          "  const cells = [];",
          '  let cell = "";',
          "  let quoted = false;",
          "  for (let at = 0; at < line.length; at++) {",
          "    const sign = line[at];",
          "    if (quoted && sign === '\"' && line[at + 1] === '\"') {",
          "      cell += sign;",
          "      at += 1;",
          "    } else if (sign === '\"') quoted = !quoted;",
          '    else if (sign === "," && !quoted) {',
          "      cells.push(cell);",
          '      cell = "";',
          "    } else cell += sign;",
          "  }",
          "  return [...cells, cell];",
          "}",
        ),
        piece: " && !quoted",
        fault: "",
        examples: [
          ['cells.readCells("a,b,")', ["a", "b", ""]],
          ["cells.readCells('\"a,b\",c')", ["a,b", "c"]],
          ['cells.readCells(\'"say ""hi""",x\')', ['say "hi"', "x"]],
        ],
      }),
      faulty({
        name: "query",
        does: '`readQuery(text)`: an object from a query such as `?a=1&b=x%20y`. `+` is a space. A name that comes several times has a list of values. A name without `=` has the value `""`.',
        right: lines(
          "export function readQuery(text) {",
          "  const result = {};",
          '  for (const part of text.replace(/^\\?/, "").split("&")) {',
          '    if (part === "") continue;',
          '    const [name, value = ""] = part.split("=").map((piece) => decodeURIComponent(piece.replaceAll("+", " ")));',
          "    if (name in result) result[name] = [result[name], value].flat();",
          "    else result[name] = value;",
          "  }",
          "  return result;",
          "}",
        ),
        piece: "result[name] = [result[name], value].flat();",
        fault: "result[name] = value;",
        examples: [
          ['query.readQuery("?a=1&b=x%20y+z")', { a: "1", b: "x y z" }],
          ['query.readQuery("a=1&a=2")', { a: ["1", "2"] }],
          ['query.readQuery("a=1&b&a=2&a=3")', { a: ["1", "2", "3"], b: "" }],
        ],
      }),
      faulty({
        name: "duration",
        does: "`seconds(text)`: the seconds in a text such as `1h 2m 3s`; each part may be missing, and there may be no spaces.",
        right: lines(
          "const UNITS = { h: 3600, m: 60, s: 1 };",
          "",
          "export function seconds(text) {",
          "  let total = 0;",
          "  for (const [, count, unit] of text.matchAll(/(\\d+)\\s*([hms])/g)) total += Number(count) * UNITS[unit];",
          "  return total;",
          "}",
        ),
        piece: "(\\d+)",
        fault: "(\\d)",
        examples: [
          ['duration.seconds("1h 2m 3s")', 3723],
          ['duration.seconds("90m")', 5400],
          ['duration.seconds("10h15s")', 36015],
        ],
      }),
    ],
  }),
  codeTask({
    id: "fix-collections",
    kind: "fix",
    prompt,
    modules: (random) => {
      const size = random.between(2, 3);
      return [
        faulty({
          name: "recent",
          does: "`new Recent(size)`: a cache with `get(key)` and `set(key, value)`. Beyond `size` entries it drops the one that was not used for the longest time; `get` and `set` both count as use.",
          right: lines(
            "export class Recent {",
            "  #size;",
            "  #entries = new Map();",
            "",
            "  constructor(size) {",
            "    this.#size = size;",
            "  }",
            "",
            "  get(key) {",
            "    if (!this.#entries.has(key)) return undefined;",
            "    const value = this.#entries.get(key);",
            "    this.set(key, value);",
            "    return value;",
            "  }",
            "",
            "  set(key, value) {",
            "    this.#entries.delete(key);",
            "    this.#entries.set(key, value);",
            "    if (this.#entries.size > this.#size) this.#entries.delete(this.#entries.keys().next().value);",
            "  }",
            "}",
          ),
          piece: "    this.set(key, value);\n",
          fault: "",
          examples: [
            [
              `(() => { const r = new recent.Recent(1); r.set("a", 1); r.set("b", 2); return [r.get("a") ?? null, r.get("b")]; })()`,
              [null, 2],
            ],
            [
              `(() => { const r = new recent.Recent(2); r.set("a", 1); r.set("b", 2); r.get("a"); r.set("c", 3); return [r.get("a") ?? null, r.get("b") ?? null]; })()`,
              [1, null],
            ],
            [
              `(() => { const r = new recent.Recent(${size}); for (let at = 0; at < ${size}; at++) r.set(at, at); r.set(0, "x"); r.set("new", 1); return [r.get(0), r.get(1) ?? null]; })()`,
              ["x", null],
            ],
          ],
        }),
        faulty({
          name: "groups",
          does: "`groupBy(list, keyOf)`: an object from key to the items with that key, in their order. The list stays as it is.",
          right: lines(
            "export function groupBy(list, keyOf) {",
            "  const groups = {};",
            "  for (const item of list) (groups[keyOf(item)] ??= []).push(item);",
            "  return groups;",
            "}",
          ),
          piece: "of list)",
          fault: "of list.reverse())",
          examples: [
            ["groups.groupBy([1, 2, 3], (n) => n % 2)", { 0: [2], 1: [1, 3] }],
            ["groups.groupBy([], String)", {}],
            ["(() => { const l = [3, 1]; groups.groupBy(l, String); return l; })()", [3, 1]],
          ],
        }),
        faulty({
          name: "pages",
          does: "`page(list, number, size)`: the items of a page, counted from 1. `pageCount(list, size)`: how many pages there are; an empty list has one.",
          right: lines(
            "export const page = (list, number, size) => list.slice((number - 1) * size, number * size);",
            "",
            "export const pageCount = (list, size) => Math.max(1, Math.ceil(list.length / size));",
          ),
          piece: "(number - 1) * size, number * size",
          fault: "number * size, (number + 1) * size",
          nearly: lines(
            "export const page = (list, number, size) => list.slice((number - 1) * size, number * size);",
            "",
            "export const pageCount = (list, size) => Math.ceil(list.length / size);",
          ),
          examples: [
            ["pages.page([1, 2, 3, 4, 5], 2, 2)", [3, 4]],
            ["pages.pageCount([1, 2, 3], 2)", 2],
            ["[pages.pageCount([], 5), pages.page([1], 1, 5)]", [1, [1]]],
          ],
        }),
      ];
    },
  }),
  codeTask({
    id: "fix-money",
    kind: "fix",
    prompt,
    modules: (random) => {
      const cents = random.between(100, 900) * 3 + 1;
      const third = Math.floor(cents / 3);
      return [
        faulty({
          name: "split",
          does: "`split(cents, count)`: an amount in whole cents shared by `count` people. Nothing is lost: the first ones pay a cent more.",
          right: lines(
            "export function split(cents, count) {",
            "  const each = Math.floor(cents / count);",
            "  return Array.from({ length: count }, (_, at) => each + (at < cents % count ? 1 : 0));",
            "}",
          ),
          piece: " + (at < cents % count ? 1 : 0)",
          fault: "",
          examples: [
            ["split.split(900, 3)", [300, 300, 300]],
            [`split.split(${cents}, 3)`, [third + 1, third, third]],
            ["split.split(5, 3)", [2, 2, 1]],
          ],
        }),
        faulty({
          name: "format",
          does: "`format(cents)`: an amount such as `1,234.05`, with a minus sign in front of what is below zero.",
          right: lines(
            "export function format(cents) {",
            '  const sign = cents < 0 ? "-" : "";',
            "  const [whole, part] = [Math.floor(Math.abs(cents) / 100), Math.abs(cents) % 100];",
            '  return `${sign}${whole.toLocaleString("en-US")}.${String(part).padStart(2, "0")}`;',
            "}",
          ),
          piece: '.padStart(2, "0")',
          fault: "",
          examples: [
            ["format.format(123405)", "1,234.05"],
            ["format.format(99)", "0.99"],
            ["format.format(-5)", "-0.05"],
          ],
        }),
        faulty({
          name: "discount",
          does: "`discounted(cents, rules)`: takes off each rule, `{ percent }` or `{ cents }`, in the given order, rounded down to whole cents after each, and never below 0.",
          right: lines(
            "export function discounted(cents, rules) {",
            "  return rules.reduce((left, rule) => {",
            "    const off = rule.percent === undefined ? rule.cents : (left * rule.percent) / 100;",
            "    return Math.max(0, Math.floor(left - off));",
            "  }, cents);",
            "}",
          ),
          piece: "(left * rule.percent)",
          fault: "(cents * rule.percent)",
          nearly: lines(
            "export function discounted(cents, rules) {",
            "  return rules.reduce((left, rule) => {",
            "    const off = rule.percent === undefined ? rule.cents : (left * rule.percent) / 100;",
            "    return Math.floor(left - off);",
            "  }, cents);",
            "}",
          ),
          examples: [
            ["discount.discounted(1000, [{ percent: 10 }])", 900],
            ["discount.discounted(1000, [{ cents: 500 }, { percent: 10 }])", 450],
            ["discount.discounted(99, [{ percent: 50 }, { cents: 60 }])", 0],
          ],
        }),
      ];
    },
  }),
];
