import { lines, problemIn, touched, without, type Changes, type Files, type LiveTask } from "./task.ts";

/** Changes that go through several files of a program, and must reach all of them and nothing else. */
export const RENAME_TASKS: readonly LiveTask[] = [
  {
    id: "rename-function",
    kind: "rename",
    assign: (random) => {
      const [old, name] = random.pick([
        ["calcTotal", "totalPrice"],
        ["getSum", "cartTotal"],
        ["computeAmount", "priceOf"],
      ] as const);
      const weight = `${old}Weight`;
      const files: Files = {
        "src/cart.mjs": lines(
          `/** ${old} adds up the price of all items. */`,
          `export function ${old}(items) {`,
          "  return items.reduce((sum, { price, count }) => sum + price * count, 0);",
          "}",
          "",
          `export function ${weight}(items) {`,
          "  return items.reduce((sum, { weight, count }) => sum + weight * count, 0);",
          "}",
        ),
        "src/order.mjs": lines(
          `import { ${old}, ${weight} } from "./cart.mjs";`,
          "",
          "export function createOrder(items) {",
          `  return { items, total: ${old}(items), weight: ${weight}(items) };`,
          "}",
        ),
        "src/invoice.mjs": lines(
          `import { ${old} as total } from "./cart.mjs";`,
          "",
          "export const invoiceLine = (items) => `To pay: ${total(items)}`;",
        ),
        "src/report.mjs": lines(
          'import * as cart from "./cart.mjs";',
          "",
          `export const revenue = (carts) => carts.map((items) => cart.${old}(items)).reduce((a, b) => a + b, 0);`,
        ),
        "src/index.mjs": lines(
          `export { ${old}, ${weight} } from "./cart.mjs";`,
          'export { createOrder } from "./order.mjs";',
          'export { invoiceLine } from "./invoice.mjs";',
          'export { revenue } from "./report.mjs";',
        ),
        "docs/api.md": lines(
          "# API",
          "",
          `- \`${old}(items)\`: the price of a cart`,
          `- \`${weight}(items)\`: its weight`,
        ),
        "CHANGELOG.md": lines("# Changes", "", `- 1.1: added ${weight}`, `- 1.0: added ${old}`),
      };
      const everywhere = replaced(files, new RegExp(`\\b${old}\\b`, "g"), name);
      const solution = without(everywhere, ["CHANGELOG.md"]);
      return {
        prompt: `Rename the function ${old} in src/cart.mjs to ${name}, everywhere: its definition, imports, calls, the exports of src/index.mjs, comments, and docs/api.md. ${weight} is another function and keeps its name. CHANGELOG.md tells what was, and must not change.`,
        files,
        check: async ({ files: after, test }) => {
          const left = Object.entries(after)
            .filter(([path, text]) => path !== "CHANGELOG.md" && new RegExp(`\\b${old}\\b`).test(text))
            .map(([path]) => `${path} still says ${old}`);
          const docs = after["docs/api.md"]?.includes(name) ? [] : [`docs/api.md does not say ${name}`];
          const failed = await test({
            "check.test.mjs": testOf(
              `import { ${name}, ${weight}, createOrder, invoiceLine, revenue } from "./src/index.mjs";`,
              "const items = [{ price: 3, count: 2, weight: 5 }, { price: 4, count: 1, weight: 7 }];",
              `equal([${name}(items), ${weight}(items), createOrder(items), invoiceLine(items), revenue([items, items])],`,
              '  [10, 17, { items, total: 10, weight: 17 }, "To pay: 10", 20]);',
            ),
          });
          return [...left, ...docs, ...touched(files, after, ["CHANGELOG.md"]), ...problemIn(failed)];
        },
        solution,
        mistake: without(solution, ["docs/api.md"]),
      };
    },
  },
  {
    id: "move-module",
    kind: "rename",
    assign: (random) => {
      const [from, to] = random.pick([
        ["src/helpers", "src/text/format"],
        ["src/misc", "src/format/names"],
      ] as const);
      const old = from.slice(4);
      const near = `./${to.slice(4)}.mjs`;
      const users = ["user", "team", "letter", "badge"];
      const user = (name: string, path: string): string =>
        lines(
          `import { initials, title } from "${path}";`,
          "",
          `export const ${name} = (text) => \`${name}: \${title(text)} (\${initials(text)})\`;`,
        );
      const helpers = lines(
        'import { SEPARATOR } from "./settings.mjs";',
        "",
        "export const title = (text) => text.split(SEPARATOR).map((word) => word[0].toUpperCase() + word.slice(1)).join(SEPARATOR);",
        'export const initials = (text) => text.split(SEPARATOR).map((word) => word[0].toUpperCase()).join("");',
      );
      const index = (path: string): string =>
        lines(
          `export { initials, title } from "${path}";`,
          ...users.map((name) => `export { ${name} } from "./${name}.mjs";`),
        );
      const files: Files = {
        [`${from}.mjs`]: helpers,
        "src/settings.mjs": 'export const SEPARATOR = " ";\n',
        ...Object.fromEntries(users.map((name) => [`src/${name}.mjs`, user(name, `./${old}.mjs`)])),
        "src/index.mjs": index(`./${old}.mjs`),
      };
      const solution: Changes = {
        [`${from}.mjs`]: undefined,
        [`${to}.mjs`]: helpers.replace("./settings", "../settings"),
        ...Object.fromEntries(users.map((name) => [`src/${name}.mjs`, user(name, near)])),
        "src/index.mjs": index(near),
      };
      return {
        prompt: `Move the module ${from}.mjs to ${to}.mjs: the old file is to be gone, and everything in src has to import it from its new place. What the modules export stays as it is.`,
        files,
        check: async ({ files: after, test }) => {
          const failed = await test({
            "check.test.mjs": testOf(
              `import { initials, title, ${users.join(", ")} } from "./src/index.mjs";`,
              `import { title as moved } from "./${to}.mjs";`,
              `equal([initials("ada king"), moved === title, ${users.map((name) => `${name}("ada king")`).join(", ")}],`,
              `  ["AK", true, ${users.map((name) => `"${name}: Ada King (AK)"`).join(", ")}]);`,
            ),
          });
          return [
            ...(after[`${from}.mjs`] === undefined ? [] : [`${from}.mjs is still there`]),
            ...problemIn(failed),
          ];
        },
        solution,
        mistake: without(solution, [`src/${users[2]}.mjs`]),
      };
    },
  },
  {
    id: "options-object",
    kind: "rename",
    assign: (random) => {
      const rights = random.between(2, 9);
      const callers = ["signup", "invite", "import", "seed"];
      const call = (name: string, isNew: boolean): string =>
        isNew
          ? `createUser({ name: \`${name} \${name}\`, email, rights: ${rights} })`
          : `createUser(\`${name} \${name}\`, email, ${rights})`;
      const caller = (name: string, isNew: boolean): string =>
        lines(
          'import { createUser } from "./users.mjs";',
          "",
          `export const ${name}User = (name, email) => ${call(name, isNew)};`,
        );
      const users = (parameters: string): string =>
        lines(
          `export function createUser(${parameters}) {`,
          '  if (!email.includes("@")) throw new Error("no address");',
          "  return { name: name.trim(), email: email.toLowerCase(), rights };",
          "}",
        );
      const all = (isNew: boolean): Record<string, string> => ({
        "src/users.mjs": users(isNew ? "{ name, email, rights = 1 }" : "name, email, rights"),
        ...Object.fromEntries(callers.map((name) => [`src/${name}.mjs`, caller(name, isNew)])),
      });
      return {
        prompt:
          "Change createUser in src/users.mjs so that it takes one object, { name, email, rights }, instead of three arguments. rights may be left out and is then 1. Change everything in src that calls it accordingly; what the other modules export and return stays as it is.",
        files: all(false),
        check: async ({ test }) =>
          problemIn(
            await test({
              "check.test.mjs": testOf(
                'import { createUser } from "./src/users.mjs";',
                ...callers.map((name) => `import { ${name}User } from "./src/${name}.mjs";`),
                'equal(createUser({ name: " A ", email: "A@B" }), { name: "A", email: "a@b", rights: 1 });',
                ...callers.map(
                  (name) =>
                    `equal(${name}User("X", "X@Y"), { name: "${name} X", email: "x@y", rights: ${rights} });`,
                ),
              ),
            }),
          ),
        solution: all(true),
        mistake: without(all(true), [`src/${random.pick(callers)}.mjs`]),
      };
    },
  },
  {
    id: "named-constants",
    kind: "rename",
    assign: (random) => {
      const [tax, limit, most] = [random.pick([7, 19, 21]), random.between(40, 90), random.between(5, 15)];
      const values: Record<string, number> = { TAX_PERCENT: tax, FREE_SHIPPING_FROM: limit, MAX_ITEMS: most };
      const module = (name: string, text: (value: (constant: string) => string) => string) => ({
        name,
        before: lines(text((constant) => String(values[constant]))),
        after: lines(
          `import { ${Object.keys(values)
            .filter((constant) => text((one) => one).includes(constant))
            .join(", ")} } from "./config.mjs";`,
          "",
          text((constant) => constant),
        ),
      });
      const modules = [
        module("price", (v) => `export const gross = (net) => net + (net * ${v("TAX_PERCENT")}) / 100;`),
        module(
          "refund",
          (v) => `export const taxOf = (gross) => gross - gross / (1 + ${v("TAX_PERCENT")} / 100);`,
        ),
        module("shipping", (v) => `export const isFree = (net) => net >= ${v("FREE_SHIPPING_FROM")};`),
        module(
          "banner",
          (v) => `export const banner = () => \`Free shipping from \${${v("FREE_SHIPPING_FROM")}}\`;`,
        ),
        module("cart", (v) => `export const isFull = (items) => items.length >= ${v("MAX_ITEMS")};`),
      ];
      const config = lines(
        ...Object.entries(values).map(([name, value]) => `export const ${name} = ${value};`),
      );
      const solution: Changes = {
        "src/config.mjs": config,
        ...Object.fromEntries(modules.map(({ name, after }) => [`src/${name}.mjs`, after])),
      };
      return {
        prompt: `The modules in src repeat three numbers: the tax in percent (${tax}), the price from which shipping is free (${limit}), and the most items in a cart (${most}). Create src/config.mjs that exports TAX_PERCENT, FREE_SHIPPING_FROM and MAX_ITEMS with these values, and make every module import what it needs from there instead of the number.`,
        files: Object.fromEntries(modules.map(({ name, before }) => [`src/${name}.mjs`, before])),
        check: async ({ files: after, test }) => {
          const script = (taxed: number, from: number, full: number): string =>
            testOf(
              ...["price", "refund", "shipping", "banner", "cart"].map(
                (name) => `import * as ${name} from "./src/${name}.mjs";`,
              ),
              `equal([price.gross(100), Math.round(refund.taxOf(${100 + taxed})), shipping.isFree(${from}), shipping.isFree(${from - 1}), banner.banner(),`,
              `  cart.isFull(Array(${full})), cart.isFull(Array(${full - 1}))],`,
              `  [${100 + taxed}, ${taxed}, true, false, "Free shipping from ${from}", true, false]);`,
            );
          const other = lines(
            "export const TAX_PERCENT = 50;",
            "export const FREE_SHIPPING_FROM = 3;",
            "export const MAX_ITEMS = 2;",
          );
          const same = await test({ "check.test.mjs": script(tax, limit, most) });
          // Only modules that really read the configuration follow it.
          const follows =
            after["src/config.mjs"] === undefined
              ? "src/config.mjs is missing"
              : await test({ "src/config.mjs": other, "check.test.mjs": script(50, 3, 2) });
          return [...problemIn(same), ...problemIn(follows && `with another configuration, ${follows}`)];
        },
        solution,
        mistake: without(solution, ["src/banner.mjs"]),
      };
    },
  },
];

/** A test file that compares, with `equal`, what it imports. */
function testOf(...body: readonly string[]): string {
  const imports = body.filter((line) => line.startsWith("import "));
  const rest = body.filter((line) => !line.startsWith("import "));
  return lines(
    'import { deepStrictEqual as equal } from "node:assert";',
    'import { test } from "node:test";',
    ...imports,
    'test("check", () => {',
    ...rest,
    "});",
  );
}

function replaced(files: Files, pattern: RegExp, by: string): Changes {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace(pattern, by)]));
}
