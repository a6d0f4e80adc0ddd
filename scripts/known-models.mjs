// Writes prices and windows of known models to `src/models/known-models.json`, from the package of Pydantic's
// genai-prices: the one on npm that has prices, caches and windows of all these providers and follows them within days.
// `npm run known-models`; it is no dependency, as a megabyte would be loaded for some lines of it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PACKAGE = "@pydantic/genai-prices";
/** Our providers by its names. */
const PROVIDERS = {
  anthropic: "anthropic",
  openai: "openai",
  "google-genai": "google",
  mistralai: "mistral",
  groq: "groq",
  deepseek: "deepseek",
  xai: "x-ai",
  together: "together",
  fireworks: "fireworks",
};

const folder = mkdtempSync(join(tmpdir(), "known-models-"));
try {
  const run = (command, args) => execFileSync(command, args, { cwd: folder, encoding: "utf8" }).trim();
  const archive = run("npm", ["pack", "--silent", PACKAGE]).split("\n").at(-1);
  run("tar", ["xzf", archive]);
  const { findProvider } = await import(pathToFileURL(join(folder, "package/dist/index.js")).href);
  const models = Object.entries(PROVIDERS).flatMap(([id, providerId]) =>
    findProvider({ providerId }).models.flatMap((model) => {
      const row = rowOf(model);
      return row ? [[`${id}:${model.id}`, row]] : [];
    }),
  );
  const lines = models.map(([name, row]) => `  ${JSON.stringify(name)}: ${JSON.stringify(row)}`);
  writeFileSync("src/models/known-models.json", `{\n${lines.join(",\n")}\n}\n`);
  console.log(`${models.length} models of ${archive}`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Dollars per million tokens: input, output, from the cache, into it; then the window. Null where it is not known. */
function rowOf({ prices, context_window: window, deprecated }) {
  const now = Array.isArray(prices) ? prices.filter(isNow).toSorted(byInput)[0]?.prices : prices;
  const price = (key) => now?.[key]?.base ?? now?.[key] ?? null;
  const [input, output] = [price("input_mtok"), price("output_mtok")];
  if (deprecated || input === null || output === null) return undefined;
  return [input, output, price("cache_read_mtok"), price("cache_write_mtok"), window ?? null];
}

/** Prices of some hours of the day are taken for all of it, the dearest of them. */
function isNow({ constraint }) {
  return constraint?.start_date === undefined || new Date(constraint.start_date) <= new Date();
}

function byInput(one, other) {
  const startOf = ({ constraint }) => constraint?.start_date ?? "";
  return startOf(other).localeCompare(startOf(one)) || other.prices.input_mtok - one.prices.input_mtok;
}
