import { fieldText, shownArguments } from "../arguments.ts";
import type { CallEntry } from "../entries.ts";
import { countLines, lineDiff, type DiffLine } from "../line-diff.ts";
import { duration, failureWord } from "../words.ts";
import { escaped } from "./escaped.ts";

/** A tool call: a line, and all of it behind it. */
export function callHtml({
  name,
  about,
  at,
  endedAt,
  ok,
  args,
  output,
  result,
  exitCode,
  verdict,
}: CallEntry): string {
  const facts = [
    failureWord({ ok, verdict }),
    exitCode !== undefined && exitCode !== 0 && (exitCode === null ? "stopped" : `exit code ${exitCode}`),
    endedAt === undefined ? "not finished" : endedAt - at >= 1000 && duration(endedAt - at),
  ].filter((fact) => typeof fact === "string");
  const summary = `<code>${escaped(name)}</code> ${escaped(about)} <span class="about">${escaped(facts.join(" · "))}</span>`;
  const said = output ?? result;
  return `<details><summary>${summary}</summary>${argumentsHtml(name, args)}${said ? `<pre>${escaped(said)}</pre>` : ""}</details>`;
}

function argumentsHtml(name: string, args: unknown): string {
  if (args === undefined) return "";
  // Arguments that could not be read stand as they came.
  if (typeof args !== "object" || args === null) return `<pre>${escaped(fieldText(args))}</pre>`;
  const shown = shownArguments(name, args as Record<string, unknown>);
  switch (shown.type) {
    case "command":
      return `<pre>$ ${escaped(shown.command)}</pre>${fieldsHtml(shown.rest)}`;
    case "write":
      return diffHtml("", shown.content);
    case "edit":
      return diffHtml(shown.before, shown.after);
    case "fields":
      return fieldsHtml(shown.fields);
  }
}

function fieldsHtml(fields: readonly [string, string][]): string {
  if (fields.length === 0) return "";
  const items = fields.map(
    ([field, value]) => `<dt>${escaped(field)}</dt><dd><pre>${escaped(value)}</pre></dd>`,
  );
  return `<dl>${items.join("")}</dl>`;
}

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "-" };

function diffHtml(before: string, after: string): string {
  const hunks = lineDiff(before, after);
  if (!hunks) return `<pre>${escaped(after)}</pre>`;
  const { added, removed } = countLines(hunks);
  const parts = hunks.map(({ lines }) =>
    lines.map(({ kind, text }) => `<span class="${kind}">${SIGNS[kind]} ${escaped(text)}</span>`).join(""),
  );
  return `<p class="about">+${added} −${removed}</p><pre class="diff">${parts.join("<span>⋯</span>")}</pre>`;
}
