import type { ConsentOptions, ConsentRule } from "./options.ts";

export const ALL: ConsentRule = { allowedDecisions: ["approve", "edit", "reject"] };

/**
 * Consent rules by tool: the rule of the exact name, else of the longest matching prefix, such as `mcp__github__*`.
 */
export class ConsentRules {
  readonly #exact: ReadonlyMap<string, boolean | ConsentRule>;
  /** Rules by prefix, longest first. */
  readonly #prefixes: readonly [string, boolean | ConsentRule][];

  constructor(interruptOn: ConsentOptions["interruptOn"]) {
    const entries = Object.entries(interruptOn);
    this.#exact = new Map(entries);
    this.#prefixes = entries
      .flatMap(([name, rule]): [string, boolean | ConsentRule][] =>
        name.endsWith("*") ? [[name.slice(0, -1), rule]] : [],
      )
      .toSorted(([a], [b]) => b.length - a.length);
  }

  get(name: string): ConsentRule | undefined {
    const rule = this.#exact.get(name) ?? this.#prefixes.find(([prefix]) => name.startsWith(prefix))?.[1];
    return rule === true ? ALL : rule || undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}
