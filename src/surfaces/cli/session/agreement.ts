import { isMutation } from "../../../middleware/tools/index.ts";
import { compileRule, type RuledCall, type Mode } from "../../../project/index.ts";
import { isObeyedFile } from "../../../threads/consent/index.ts";
import type { Conversation } from "./conversation.ts";

type Terms = Pick<Conversation, "mode" | "project" | "settings">;

/** Consent that a person has given since a turn began, which answers questions that were put before. */
export class Agreement {
  readonly #now: Terms;
  readonly #mode: Mode;
  readonly #rules: number;

  constructor(now: Terms) {
    this.#now = now;
    this.#mode = now.mode;
    this.#rules = now.project.config.allow?.length ?? 0;
  }

  covers(call: RuledCall): boolean {
    const { mode, project, settings } = this.#now;
    const always = [...(project.config.ask ?? []), ...settings.ask].map(compileRule);
    // Those are asked for in every mode, whatever else is allowed.
    if (always.some((rule) => rule.catches(call)) || isObeyedFile(call.path ?? "")) return false;
    const isWrite = isMutation(call.tool);
    if (mode !== this.#mode && (mode === "auto" || (mode === "edits" && isWrite))) return true;
    const fresh = (project.config.allow ?? []).slice(this.#rules);
    return fresh.some((rule) => compileRule(rule).allows(call));
  }
}
