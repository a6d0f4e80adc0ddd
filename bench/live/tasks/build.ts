import { codeTask } from "./code-task.ts";
import { lines, type LiveTask } from "./task.ts";

const prompt = (names: string): string =>
  `Write the modules ${names} as SPEC.md describes them, without dependencies. The tests in test must pass (node --test test/); they do not look at everything that SPEC.md says. Do not change the tests.`;

/** Programs that have to be written to a description. */
export const BUILD_TASKS: readonly LiveTask[] = [
  codeTask({
    id: "build-text",
    kind: "build",
    prompt,
    modules: () => [
      {
        name: "slug",
        does: "`slug(title)`: lower case; every run of signs other than a-z and 0-9 becomes one `-`; none at the ends; accents are dropped (`é` is `e`).",
        right: lines(
          "export const slug = (title) =>",
          '  title.normalize("NFD").replace(/\\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");',
        ),
        nearly: 'export const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");\n',
        examples: [
          ['slug.slug("Hello, World")', "hello-world"],
          ['slug.slug("a  b")', "a-b"],
          ['slug.slug(" Café no. 7! ")', "cafe-no-7"],
        ],
      },
      {
        name: "wrap",
        does: "`wrap(text, width)`: a list of lines of at most `width` characters, broken at spaces, as full as possible. A word that is longer stands alone on its line. An empty text gives no lines.",
        right: lines(
          "export function wrap(text, width) {",
          "  const lines = [];",
          '  for (const word of text.split(" ").filter(Boolean)) {',
          "    const last = lines.at(-1);",
          "    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;",
          "    else lines.push(word);",
          "  }",
          "  return lines;",
          "}",
        ),
        nearly: 'export const wrap = (text, width) => text.match(new RegExp(`.{1,${width}}`, "g"));\n',
        examples: [
          ['wrap.wrap("one two three", 7)', ["one two", "three"]],
          ['wrap.wrap("extraordinary day", 5)', ["extraordinary", "day"]],
          ['wrap.wrap("", 5)', []],
        ],
      },
      {
        name: "count",
        does: "`topWords(text, most)`: pairs of word and count, the most frequent first and equal ones by the alphabet, at most `most`. Words are runs of letters, in lower case.",
        right: lines(
          "export function topWords(text, most) {",
          "  const counts = new Map();",
          "  for (const [word] of text.toLowerCase().matchAll(/\\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);",
          "  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, most);",
          "}",
        ),
        nearly: lines(
          "export function topWords(text, most) {",
          "  const counts = {};",
          "  for (const word of text.toLowerCase().split(/\\W+/)) counts[word] = (counts[word] ?? 0) + 1;",
          "  return Object.entries(counts).sort(([, m], [, n]) => n - m).slice(0, most);",
          "}",
        ),
        examples: [
          [
            'count.topWords("b a b", 2)',
            [
              ["b", 2],
              ["a", 1],
            ],
          ],
          ['count.topWords("x", 5)', [["x", 1]]],
          [
            'count.topWords("Zoo, yak. zoo; Yak: ant!", 2)',
            [
              ["yak", 2],
              ["zoo", 2],
            ],
          ],
        ],
      },
    ],
  }),
  codeTask({
    id: "build-matrix",
    kind: "build",
    prompt,
    modules: (random) => {
      const n = random.between(2, 9);
      return [
        {
          name: "add",
          does: "`add(a, b)`: the sum of two matrices, which are lists of rows. Throws a RangeError when their sizes differ.",
          right: lines(
            "export function add(a, b) {",
            '  if (a.length !== b.length || a[0]?.length !== b[0]?.length) throw new RangeError("sizes differ");',
            "  return a.map((row, r) => row.map((value, c) => value + b[r][c]));",
            "}",
          ),
          nearly: "export const add = (a, b) => a.map((row, r) => row.map((value, c) => value + b[r][c]));\n",
          examples: [
            [`add.add([[1, 2]], [[${n}, 4]])`, [[1 + n, 6]]],
            ["add.add([[1], [2]], [[3], [4]])", [[4], [6]]],
            [
              '(() => { try { add.add([[1, 2]], [[1]]); return "no error"; } catch (error) { return error.name; } })()',
              "RangeError",
            ],
          ],
        },
        {
          name: "multiply",
          does: "`multiply(a, b)`: the product of two matrices. Throws a RangeError when the columns of `a` are not as many as the rows of `b`.",
          right: lines(
            "export function multiply(a, b) {",
            '  if (a[0].length !== b.length) throw new RangeError("sizes do not fit");',
            "  return a.map((row) => b[0].map((_, c) => row.reduce((sum, value, at) => sum + value * b[at][c], 0)));",
            "}",
          ),
          nearly:
            "export const multiply = (a, b) => a.map((row, r) => row.map((value, c) => value * b[r][c]));\n",
          examples: [
            [
              "multiply.multiply([[1, 0], [0, 1]], [[5, 6], [7, 8]])",
              [
                [5, 6],
                [7, 8],
              ],
            ],
            [`multiply.multiply([[1, 2]], [[${n}], [1]])`, [[n + 2]]],
            [
              '(() => { try { multiply.multiply([[1, 2]], [[1, 2]]); return "no error"; } catch (error) { return error.name; } })()',
              "RangeError",
            ],
          ],
        },
        {
          name: "shape",
          does: "`transpose(matrix)`: rows become columns; the matrix itself stays as it is. `isSquare(matrix)`: whether it has as many rows as columns, which an empty one has.",
          right: lines(
            "export const transpose = (matrix) => (matrix[0] ?? []).map((_, c) => matrix.map((row) => row[c]));",
            "",
            "export const isSquare = (matrix) => matrix.every((row) => row.length === matrix.length);",
          ),
          nearly: lines(
            "export const transpose = (matrix) => matrix[0].map((_, c) => matrix.map((row) => row[c]));",
            "",
            "export const isSquare = (matrix) => matrix.length === matrix[0].length;",
          ),
          examples: [
            [`shape.transpose([[1, 2, ${n}]])`, [[1], [2], [n]]],
            ["[shape.isSquare([[1]]), shape.isSquare([[1, 2]])]", [true, false]],
            ["[shape.transpose([]), shape.isSquare([])]", [[], true]],
          ],
        },
      ];
    },
  }),
  codeTask({
    id: "build-intervals",
    kind: "build",
    prompt,
    modules: (random) => {
      const s = random.between(1, 50);
      return [
        {
          name: "merge",
          does: "`merge(intervals)`: intervals `[from, to]` in order of `from`, with those made one that overlap or touch. The list that is passed stays as it is.",
          right: lines(
            "export function merge(intervals) {",
            "  const merged = [];",
            "  for (const [from, to] of [...intervals].sort((a, b) => a[0] - b[0])) {",
            "    const last = merged.at(-1);",
            "    if (last && from <= last[1]) last[1] = Math.max(last[1], to);",
            "    else merged.push([from, to]);",
            "  }",
            "  return merged;",
            "}",
          ),
          nearly: lines(
            "export function merge(intervals) {",
            "  const merged = [];",
            "  for (const [from, to] of intervals.sort((a, b) => a[0] - b[0])) {",
            "    const last = merged.at(-1);",
            "    if (last && from < last[1]) last[1] = to;",
            "    else merged.push([from, to]);",
            "  }",
            "  return merged;",
            "}",
          ),
          examples: [
            [
              `merge.merge([[${s + 4}, ${s + 6}], [${s}, ${s + 2}]])`,
              [
                [s, s + 2],
                [s + 4, s + 6],
              ],
            ],
            ["merge.merge([[1, 4], [2, 5]])", [[1, 5]]],
            ["merge.merge([[1, 9], [2, 3], [9, 10]])", [[1, 10]]],
          ],
        },
        {
          name: "gaps",
          does: "`gaps(intervals, [from, to])`: what of a range is covered by none of the intervals, which are sorted and do not overlap.",
          right: lines(
            "export function gaps(intervals, [from, to]) {",
            "  const free = [];",
            "  let at = from;",
            "  for (const [start, end] of intervals) {",
            "    if (start > at && at < to) free.push([at, Math.min(start, to)]);",
            "    at = Math.max(at, end);",
            "  }",
            "  if (at < to) free.push([at, to]);",
            "  return free;",
            "}",
          ),
          nearly: lines(
            "export const gaps = (intervals) =>",
            "  intervals.slice(1).map(([start], at) => [intervals[at][1], start]);",
          ),
          examples: [
            ["gaps.gaps([[1, 2], [4, 5]], [1, 5])", [[2, 4]]],
            ["gaps.gaps([], [0, 3])", [[0, 3]]],
            ["gaps.gaps([[0, 2], [8, 12]], [1, 10])", [[2, 8]]],
          ],
        },
        {
          name: "cover",
          does: "`covers(intervals, point)`: whether a point lies in an interval, ends included. `total(intervals)`: the length of all, where intervals that overlap count once.",
          right: lines(
            'import { merge } from "./merge.mjs";',
            "",
            "export const covers = (intervals, point) => intervals.some(([from, to]) => from <= point && point <= to);",
            "",
            "export const total = (intervals) => merge(intervals).reduce((sum, [from, to]) => sum + to - from, 0);",
          ),
          nearly: lines(
            "export const covers = (intervals, point) => intervals.some(([from, to]) => from <= point && point < to);",
            "",
            "export const total = (intervals) => intervals.reduce((sum, [from, to]) => sum + to - from, 0);",
          ),
          examples: [
            ["[cover.covers([[1, 2]], 1), cover.covers([[1, 2]], 3)]", [true, false]],
            ["cover.total([[1, 2], [4, 6]])", 3],
            ["[cover.covers([[1, 2]], 2), cover.total([[1, 4], [2, 5]])]", [true, 4]],
          ],
        },
      ];
    },
  }),
  codeTask({
    id: "build-numbers",
    kind: "build",
    prompt,
    modules: (random) => {
      const base = random.between(2, 9) * 10;
      return [
        {
          name: "roman",
          does: "`toRoman(number)` for 1 to 3999, and `fromRoman(text)`, which reads lower case too.",
          right: lines(
            'const SIGNS = [[1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"], [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"]];',
            "",
            "export function toRoman(number) {",
            '  let text = "";',
            "  for (const [value, sign] of SIGNS) for (; number >= value; number -= value) text += sign;",
            "  return text;",
            "}",
            "",
            "export function fromRoman(text) {",
            "  let [rest, number] = [text.toUpperCase(), 0];",
            "  for (const [value, sign] of SIGNS) {",
            "    for (; rest.startsWith(sign); rest = rest.slice(sign.length)) number += value;",
            "  }",
            "  return number;",
            "}",
          ),
          nearly: lines(
            'const SIGNS = [[1000, "M"], [500, "D"], [100, "C"], [50, "L"], [10, "X"], [5, "V"], [1, "I"]];',
            "",
            "export function toRoman(number) {",
            '  let text = "";',
            "  for (const [value, sign] of SIGNS) for (; number >= value; number -= value) text += sign;",
            "  return text;",
            "}",
            "",
            "export const fromRoman = (text) => [...text].reduce((sum, sign) => sum + SIGNS.find(([, one]) => one === sign)[0], 0);",
          ),
          examples: [
            ["[roman.toRoman(4), roman.toRoman(2025)]", ["IV", "MMXXV"]],
            ['[roman.fromRoman("XIV"), roman.fromRoman("MCMXC")]', [14, 1990]],
            ['[roman.toRoman(3999), roman.fromRoman("xlii")]', ["MMMCMXCIX", 42]],
          ],
        },
        {
          name: "ordinal",
          does: "`ordinal(number)`: `1st`, `2nd`, `3rd`, `4th`, `11th`, `112th`, `121st` and so on.",
          right: lines(
            "export function ordinal(number) {",
            "  const isTeen = number % 100 > 10 && number % 100 < 14;",
            '  return `${number}${(!isTeen && ["th", "st", "nd", "rd"][number % 10]) || "th"}`;',
            "}",
          ),
          nearly:
            'export const ordinal = (number) => `${number}${["th", "st", "nd", "rd"][number % 10] ?? "th"}`;\n',
          examples: [
            [
              `[ordinal.ordinal(1), ordinal.ordinal(${base + 2}), ordinal.ordinal(${base + 7})]`,
              ["1st", `${base + 2}nd`, `${base + 7}th`],
            ],
            ["ordinal.ordinal(103)", "103rd"],
            ["[ordinal.ordinal(12), ordinal.ordinal(111)]", ["12th", "111th"]],
          ],
        },
        {
          name: "clock",
          does: "`clock(seconds)`: `h:mm:ss` from an hour on, below it `m:ss`. Fractions of a second are dropped.",
          right: lines(
            'const two = (number) => String(number).padStart(2, "0");',
            "",
            "export function clock(seconds) {",
            "  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];",
            "  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;",
            "}",
          ),
          nearly: lines(
            'const two = (number) => String(number).padStart(2, "0");',
            "",
            "export const clock = (seconds) => `${Math.floor(seconds / 60)}:${two(Math.floor(seconds) % 60)}`;",
          ),
          examples: [
            ["[clock.clock(5), clock.clock(65)]", ["0:05", "1:05"]],
            ["clock.clock(3661)", "1:01:01"],
            ["[clock.clock(59.9), clock.clock(36000)]", ["0:59", "10:00:00"]],
          ],
        },
      ];
    },
  }),
];
