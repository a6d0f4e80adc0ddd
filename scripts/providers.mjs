// Prints what both harnesses can do with each provider, against servers that refuse what it refuses: `npm run providers`.
import { HARNESSES, PROVIDERS, providerRow } from "../test/helpers/models/providers.ts";

const rows = new Map();
for (const name of Object.keys(PROVIDERS)) rows.set(name, await providerRow(name));
const columns = Object.keys([...rows.values()][0]);
console.log(`Each cell is about both: ${HARNESSES[0]}, streamed, and ${HARNESSES[1]}, not streamed.\n`);
console.log(`| ${["provider", ...columns].join(" | ")} |\n|${"---|".repeat(columns.length + 1)}`);
for (const [name, row] of rows) console.log(`| ${[`\`${name}\``, ...Object.values(row)].join(" | ")} |`);
process.exitCode = [...rows.values()].flatMap(Object.values).some((cell) => cell.startsWith("✗")) ? 1 : 0;
