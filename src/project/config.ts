import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { nearWords } from "../files/text/index.ts";
import { readText } from "../middleware/instructions/index.ts";
import { EFFORTS, ISOLATIONS, MODES } from "../vocabulary.ts";
import { compileRule, RULE } from "./rules.ts";

const rules = (what: string) =>
  z
    .array(z.string().regex(RULE, "must be a tool, or a tool with a pattern: execute(npm test*)"))
    .describe(
      `${what} Rules are tools or tools with a pattern, such as execute(npm test*) or write_file(src/**).`,
    );

const price = z.number().min(0);

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && !text.includes("*") && URL.canParse(text) && new URL(text).origin === text;
}

/** The schema of `.holdfast/config.json`; `schemas/config.v1.json` is generated from it. */
export const CONFIG = z
  .strictObject({
    $schema: z.string().describe("The address of this schema, for editors."),
    model: z.string().min(1).describe("provider:name, offline or demo."),
    effort: z.enum(EFFORTS).describe("How much the model thinks, if the model supports it."),
    mode: z
      .enum(MODES)
      .describe(
        "plan: reads only until a plan is approved; ask: writes and commands are asked for; edits: commands are; auto: nothing is.",
      ),
    allow: rules("Calls that are made without asking."),
    ask: rules("Calls that are asked for in every mode; wins over allow."),
    deny: rules("Calls that are refused in every mode; wins over all."),
    sandbox: z
      .enum(ISOLATIONS)
      .describe("Isolate commands where it works, always (else none are run), or never."),
    network: z.boolean().describe("Whether isolated commands reach the network."),
    origins: z
      .array(z.string().refine(isOrigin, "must be an origin: http://localhost:3000"))
      .describe(
        "Origins on this machine or its network that web_fetch may reach, such as http://localhost:3000.",
      ),
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

/** Reads a settings file. Returns its text, or a note on why it is not used. */
export async function readSettings(file: string): Promise<{ text: string } | { note: string }> {
  const content = await readText(file, MAX_BYTES);
  return "text" in content && content.isCut ? { note: `has more than ${MAX_BYTES} bytes` } : content;
}

/** Parses JSON. Throws `invalid-options` if it is invalid, or has a key such as `__proto__`. */
export function parseJson(text: string, file: string): unknown {
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid(file, `is not JSON: ${(error as Error).message}`);
  }
  const key = unsafeKey(data);
  if (key !== undefined) throw invalid(file, `has the key ${key}, which nothing may be called`);
  return data;
}

/** Parses settings. Throws `invalid-options` with the file and the reason. */
export function parseConfig(text: string, file: string): Config {
  const result = CONFIG.safeParse(parseJson(text, file));
  if (!result.success) throw invalid(file, result.error.issues.map(reasonOf).join("; "));
  const { allow = [], ask = [], deny = [] } = result.data;
  for (const rule of [...allow, ...ask, ...deny]) {
    try {
      compileRule(rule);
    } catch (error) {
      throw invalid(file, `has the rule ${JSON.stringify(rule)}: ${(error as Error).message}`);
    }
  }
  return result.data;
}

function reasonOf(issue: z.core.$ZodIssue): string {
  const at = issue.path.join(".");
  if (issue.code !== "unrecognized_keys") return at ? `${at}: ${issue.message}` : issue.message;
  // Below the top, only a price has a fixed set of names.
  const settings = at === "" ? Object.keys(CONFIG.shape) : ["input", "output", "cached", "written"];
  return issue.keys
    .map((key) => {
      const [near] = nearWords(key, settings);
      const hint =
        near === undefined ? `there are ${settings.join(", ")}` : `did you mean ${JSON.stringify(near)}?`;
      return `there is no setting ${JSON.stringify(at ? `${at}.${key}` : key)} (${hint})`;
    })
    .join("; ");
}

const MAX_DEPTH = 20;

/** Finds a key that could change an object's prototype, down to `MAX_DEPTH` levels. */
function unsafeKey(data: unknown, depth = 0): string | undefined {
  if (typeof data !== "object" || data === null || depth > MAX_DEPTH) return undefined;
  for (const [key, value] of Object.entries(data)) {
    if (["__proto__", "constructor", "prototype"].includes(key)) return key;
    const nested = unsafeKey(value, depth + 1);
    if (nested !== undefined) return nested;
  }
  return undefined;
}

function invalid(file: string, reason: string): HarnessError {
  return new HarnessError("invalid-options", `${file}: ${reason}.`);
}
