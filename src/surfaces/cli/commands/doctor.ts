import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { chooseModel, describeModels, type ModelReport } from "../../../models/index.ts";
import { OFFLINE } from "../../../runs/model.ts";
import { EXIT } from "../exit-codes.ts";
import { canAsk, isLive, paintOf, type Terminal } from "../terminal.ts";
import { statePath, withSaver } from "../threads.ts";

export interface DoctorFlags {
  state?: string | undefined;
  json?: boolean | undefined;
}

/** One thing that was looked at. `note` is for information, `problem` for what keeps a run from working. */
interface Finding {
  area: "node" | "model" | "provider" | "storage" | "terminal";
  level: "ok" | "note" | "problem";
  text: string;
  fix?: string;
}

/** Servers on the user's machine, where to knock, and how long to wait for them. */
const LOCAL = [
  { provider: "ollama", label: "Ollama", path: "/api/tags" },
  { provider: "lm-studio", label: "LM Studio", path: "/models" },
];
const PATIENCE_MS = 1500;

/** `holdfast doctor`: says which models, keys, servers and storage were found, and what to do. */
export async function doctor({ state, json }: DoctorFlags, terminal: Terminal): Promise<number> {
  const reports = describeModels(terminal.env);
  const findings: Finding[] = [
    nodeVersion(),
    await chosenModel(terminal),
    ...reports.flatMap(providerFindings),
    ...(await Promise.all(LOCAL.map((local) => serverFinding(local, reports)))),
    await storage(statePath(state, terminal)),
    terminalFinding(terminal),
  ];
  const { stdout } = terminal;
  const paint = paintOf(terminal);
  const signs = { ok: paint("green", "✓"), note: paint("dim", "·"), problem: paint("red", "✗") };
  for (const finding of findings) {
    const { level, text, fix } = finding;
    const line = `${signs[level]} ${text}${fix === undefined ? "" : `\n    ${fix}`}`;
    stdout.write(`${json ? JSON.stringify(finding) : line}\n`);
  }
  return findings.some(({ level }) => level === "problem") ? EXIT.failed : EXIT.done;
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return {
    area: "node",
    level: isOld ? "problem" : "ok",
    text: `Node ${process.versions.node}`,
    ...(isOld && { fix: "Holdfast needs Node 20.19 or newer." }),
  };
}

async function chosenModel({ env }: Terminal): Promise<Finding> {
  if (env["HOLDFAST_MODEL"]?.trim() === OFFLINE) {
    return { area: "model", level: "ok", text: "model: offline (HOLDFAST_MODEL)" };
  }
  try {
    const { name, source } = await chooseModel({ env });
    return { area: "model", level: "ok", text: `model: ${name} (${source})` };
  } catch (error) {
    const known = HarnessError.from(error);
    if (known?.code !== "no-model") {
      return { area: "model", level: "problem", text: known?.message ?? String(error) };
    }
    return {
      area: "model",
      level: "note",
      text: "model: none is configured; holdfast run uses offline, which can only survey a directory",
      fix: "Set HOLDFAST_MODEL, such as ollama:qwen3 or anthropic:claude-sonnet-5, and the provider's key.",
    };
  }
}

/** Only providers that something is set for; the others are of no interest. */
function providerFindings({ provider, installed, install, variables, baseUrl }: ModelReport): Finding[] {
  if (variables.length === 0) return [];
  const where = baseUrl === undefined ? "" : ` → ${baseUrl}`;
  return [
    {
      area: "provider",
      level: installed ? "ok" : "problem",
      text: `${provider}: ${variables.join(", ")} set${where}`,
      ...(!installed && { fix: `Its package is missing: ${install}` }),
    },
  ];
}

async function serverFinding(
  { provider, label, path }: (typeof LOCAL)[number],
  reports: readonly ModelReport[],
): Promise<Finding> {
  const report = reports.find((one) => one.provider === provider);
  const url = report?.baseUrl ?? "";
  try {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const names = modelNames(await response.json());
    const models = names.length > 0 ? names.slice(0, 8).join(", ") : "no models yet";
    return { area: "provider", level: "ok", text: `${label} answers at ${url}: ${models}` };
  } catch {
    return { area: "provider", level: "note", text: `no ${label} server at ${url}` };
  }
}

/** Ollama lists `models[].name`, servers that speak OpenAI's language `data[].id`. */
function modelNames(body: unknown): string[] {
  const { models, data } = (body ?? {}) as { models?: { name?: unknown }[]; data?: { id?: unknown }[] };
  const names = [...(models ?? []).map(({ name }) => name), ...(data ?? []).map(({ id }) => id)];
  return names.filter((name) => typeof name === "string");
}

async function storage(path: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    const isWritable = await canCreate(dirname(path));
    return isWritable
      ? { area: "storage", level: "ok", text: `storage: ${path} (made with the first thread)` }
      : {
          area: "storage",
          level: "problem",
          text: `storage: ${path} cannot be made`,
          fix: "Choose another file with --state or HOLDFAST_STATE.",
        };
  }
  try {
    const count = await withSaver(
      path,
      async (saver) => (await saver.listThreads({ limit: 100_000 })).length,
    );
    const size = `${(found.size / 1_000_000).toFixed(1)} MB`;
    const threads = `${count} ${count === 1 ? "thread" : "threads"}`;
    return { area: "storage", level: "ok", text: `storage: ${path} (${threads}, ${size})` };
  } catch (error) {
    return { area: "storage", level: "problem", text: HarnessError.from(error)?.message ?? String(error) };
  }
}

async function canCreate(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found) {
      return access(at, constants.W_OK).then(
        () => found.isDirectory(),
        () => false,
      );
    }
    if (dirname(at) === at) return false;
  }
}

function terminalFinding(terminal: Terminal): Finding {
  const view = isLive(terminal) ? "live plan" : "plain lines (not a terminal, or CI, TERM=dumb, NO_COLOR)";
  const asks = canAsk(terminal, {})
    ? "questions are asked here"
    : "questions wait for holdfast resume --answer";
  return { area: "terminal", level: "ok", text: `output: ${view}; ${asks}` };
}
