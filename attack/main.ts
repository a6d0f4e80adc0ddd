import { parseArgs } from "node:util";
import type { Attack } from "./attack.ts";
import { bitFlips } from "./bit-flips.ts";
import { cluster } from "./cluster.ts";
import { allowRules, denyRules } from "./command-rules.ts";
import { floods } from "./floods.ts";
import { kills } from "./kills.ts";
import { ledger } from "./ledger.ts";
import { models } from "./models.ts";
import { ownGit } from "./own-git.ts";
import { paths } from "./paths.ts";
import { races } from "./races.ts";
import { takeovers } from "./takeovers.ts";
import { teams } from "./teams.ts";
import { tested } from "./tested.ts";

const ATTACKS: readonly Attack[] = [
  bitFlips,
  kills,
  races,
  paths,
  ownGit,
  floods,
  models,
  ledger,
  teams,
  takeovers,
  cluster,
  allowRules,
  denyRules,
  ...tested,
];

/** `npm run attack -- [name…] [--tries n] [--seed n]`: runs the attacks and prints what held. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tries: { type: "string" }, seed: { type: "string" } },
  });
  const unknown = positionals.filter((name) => !ATTACKS.some((attack) => attack.name === name));
  if (unknown.length > 0) {
    const known = ATTACKS.map(({ name }) => name).join(", ");
    throw new Error(`There is no attack ${unknown.join(", ")}; there are: ${known}.`);
  }
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  const tries = values.tries === undefined ? undefined : Number(values.tries);
  const chosen = ATTACKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  console.log(`Seed ${seed}\n\n| attack | tries | failures | notes |\n|---|---|---|---|`);
  for (const { name, run } of chosen) {
    const result = await run({ seed, tries });
    console.log(`| ${name} | ${result.tries} | ${result.failures} | ${result.notes} |`);
    if (result.failures > 0) process.exitCode = 1;
  }
}

await main();
