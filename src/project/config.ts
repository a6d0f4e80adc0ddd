import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { nearWords } from "../files/text/index.ts";
import { readText } from "../middleware/instructions/index.ts";
import { compileRule, RULE } from "./rules.ts";

/** Consent modes: `plan` and `ask` ask before every write and command, `edits` before commands, `auto` never. */
export const MODES = ["plan", "ask", "edits", "auto"] as const;
export type Mode = (typeof MODES)[number];

/** The thinking effort of a model. */
export const EFFORTS = ["off", "low", "medium", "high"] as const;

const rules = (what: string) =>
  z
    .array(z.string().regex(RULE, "must be a tool, or a tool with a pattern: execute(npm test*)"))
    .describe(
      `${what} Rules are tools or tools with a pattern, such as execute(npm test*) or write_file(src/**).`,
    );

const price = z.number().min(0);

/** The schema of `.holdfast/config.json`. `schemas/config.v1.json` is made of it. */
export const CONFIG = z
  .strictObject({
    $schema: z.string().describe("The address of this schema, for editors."),
    model: z.string().min(1).describe("provider:name, offline or demo."),
    effort: z.enum(EFFORTS).describe("How much the model thinks, where it can be told."),
    mode: z
      .enum(MODES)
      .describe(
        "plan: reads only until a plan is approved; ask: writes and commands are asked for; edits: commands are; auto: nothing is.",
      ),
    allow: rules("Calls that are made without asking."),
    ask: rules("Calls that are asked for in every mode; wins over allow."),
    deny: rules("Calls that are refused in every mode; wins over all."),
    sandbox: z
      .enum(["auto", "always", "never"])
      .describe("Isolate commands where it works, always (else none are run), or never."),
    network: z.boolean().describe("Whether isolated commands reach the network."),
    prices: z
      .record(
        z.string(),
        z.strictObject({ input: price, output: price, cached: price.optional(), written: price.optional() }),
      )
      .describe("US dollars per million tokens, by model."),
    mcp: z.record(z.string(), z.looseObject({})).describe("MCP servers by name, as mcpServers in .mcp.json."),
  })
  .partial();

export type Config = z.output<typeof CONFIG>;

const MAX_BYTES = 262_144;

/** The text of a settings file, or why it is left out. */
export async function readSettings(file: string): Promise<{ text: string } | { note: string }> {
  const read = await readText(file, MAX_BYTES);
  return "text" in read && read.isCut ? { note: `has more than ${MAX_BYTES} bytes` } : read;
}

/** Throws `invalid-options` for a text that is no JSON, or has names in it that mean something to JavaScript. */
export function parseJson(text: string, file: string): unknown {
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(file, `is not JSON: ${(error as Error).message}`);
  }
  const polluted = pollutedKey(data);
  if (polluted !== undefined) throw invalid(file, `has the key ${polluted}, which nothing may be called`);
  return data;
}

/** Reads settings. Throws `invalid-options` that names the file and what is wrong with it. */
export function parseConfig(text: string, file: string): Config {
  const read = CONFIG.safeParse(parseJson(text, file));
  if (!read.success) throw invalid(file, read.error.issues.map(reasonOf).join("; "));
  for (const rule of [read.data.allow, read.data.ask, read.data.deny].flatMap((list) => list ?? [])) {
    try {
      compileRule(rule);
    } catch (error) {
      throw invalid(file, `has the rule ${JSON.stringify(rule)}: ${(error as Error).message}`);
    }
  }
  return read.data;
}

function reasonOf(issue: z.core.$ZodIssue): string {
  const at = issue.path.join(".");
  if (issue.code !== "unrecognized_keys") return at ? `${at}: ${issue.message}` : issue.message;
  // Below the top, only a price has a fixed set of names.
  const known = at === "" ? Object.keys(CONFIG.shape) : ["input", "output", "cached"];
  return issue.keys
    .map((key) => {
      const [near] = nearWords(key, known);
      const hint =
        near === undefined ? `there are ${known.join(", ")}` : `did you mean ${JSON.stringify(near)}?`;
      return `there is no setting ${JSON.stringify(at ? `${at}.${key}` : key)} (${hint})`;
    })
    .join("; ");
}

const DEEPEST = 20;

/** Such a name, at any depth that somebody writes by hand. */
function pollutedKey(data: unknown, depth = 0): string | undefined {
  if (typeof data !== "object" || data === null || depth > DEEPEST) return undefined;
  for (const [key, value] of Object.entries(data)) {
    if (["__proto__", "constructor", "prototype"].includes(key)) return key;
    const found = pollutedKey(value, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function invalid(file: string, reason: string): HarnessError {
  return new HarnessError("invalid-options", `${file}: ${reason}.`);
}
