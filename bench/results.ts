import { readFileSync, writeFileSync } from "node:fs";
import { report } from "./report.ts";
import type { Section } from "./section.ts";

/** What results.json keeps of a section. */
interface Kept extends Pick<Section, "name" | "goals" | "markdown" | "data"> {
  seed: number;
  /** The day on which it was measured. */
  measured: string;
}

/** Writes what was measured into results.json, RESULTS.md and the plots; sections that were not measured stay. */
export function keepResults(
  sections: readonly Section[],
  { seed, order }: { seed: number; order: readonly string[] },
): void {
  const measured = new Date().toISOString().slice(0, 10);
  const fresh = sections.map(({ name, goals, markdown, data }): Kept => ({
    name,
    seed,
    measured,
    goals,
    markdown,
    data,
  }));
  const others = readResults().filter(({ name }) => !sections.some((section) => section.name === name));
  const all = [...others, ...fresh].toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  write("results.json", `${JSON.stringify(all, null, 2)}\n`);
  write("RESULTS.md", report(all));
  for (const { file, svg } of sections.flatMap(({ plots }) => plots)) write(file, svg);
}

/** What was measured last, section by section. */
export function readResults(): Kept[] {
  try {
    return JSON.parse(readFileSync(new URL("results.json", import.meta.url), "utf8")) as Kept[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, import.meta.url), text);
}
