import { HarnessError } from "../../../errors.ts";
import {
  chooseModel,
  type ChosenModel,
  PROVIDERS,
  describeModels,
  type ModelReport,
  listModels,
  explainModelError,
  type Environment,
} from "../../../models/index.ts";
import { PLAYED } from "../../../models/index.ts";
import { isSource } from "../../../package-file.ts";
import { shortList } from "../../../threads/events/index.ts";
import type { Finding } from "./finding.ts";

/** Time limits for a local server, a remote one, and an answer of a model. */
const TIMEOUT_MS = { local: 1500, remote: 10_000, answer: 60_000 };

/** Checks the model that a run would use, and all others that are set up. */
export async function modelFindings(
  env: Environment,
  { ask, configured }: { ask: boolean; /** The model in the settings files. */ configured?: string },
): Promise<Finding[]> {
  const chosen = await chosenModel(env, configured);
  const id = "name" in chosen ? chosen.name.split(":")[0] : undefined;
  const reports = describeModels(env);
  const used = reports.find(({ provider }) => provider === id);
  const others = eachVariableOnce(reports).filter((report) => report.provider !== id);
  const [tested, ...rest] = await Promise.all([
    "name" in chosen ? testModel(chosen, { env, ask, variables: used?.variables ?? [] }) : [chosen],
    ...others.map((report) => providerFindings(report, env)),
  ]);
  return [...tested, ...rest.flat()];
}

/** Assigns a variable that several providers read to the first of them. */
function eachVariableOnce(reports: readonly ModelReport[]): ModelReport[] {
  const names = new Set<string>();
  return reports.map((report) => {
    const variables = report.variables.filter((name) => !names.has(name));
    for (const name of variables) names.add(name);
    return { ...report, variables };
  });
}

/** The model that a run would use, or why there is none. */
async function chosenModel(env: Environment, configured: string | undefined): Promise<ChosenModel | Finding> {
  const variable = env["HOLDFAST_MODEL"]?.trim();
  const source = variable ? "HOLDFAST_MODEL" : "settings";
  const program = PLAYED.find((name) => name === (variable || configured));
  if (program) {
    return { area: "model", level: "ok", tested: false, text: `model: ${program} (${source})` };
  }
  try {
    const model = variable ? undefined : configured;
    const chosen = await chooseModel({
      env,
      settings: { maxRetries: 0, timeout: TIMEOUT_MS.answer },
      model,
    });
    return model === undefined ? chosen : { ...chosen, source };
  } catch (error) {
    const cause = HarnessError.from(error);
    if (cause?.code !== "no-model") {
      return { area: "model", level: "problem", tested: false, text: cause?.message ?? String(error) };
    }
    return {
      area: "model",
      level: "note",
      tested: false,
      text: "model: none is configured; holdfast run uses offline, which can only survey a directory",
      fix: "Set HOLDFAST_MODEL, such as ollama:qwen3 or anthropic:claude-sonnet-5, and the provider's key.",
    };
  }
}

/** Tests address and key with the list of models, which is free; asks the model itself only with `ask`. */
async function testModel(
  chosen: ChosenModel,
  { env, ask, variables }: { env: Environment; ask: boolean; variables: readonly string[] },
): Promise<Finding[]> {
  const { name, source, baseUrl = "" } = chosen;
  const [id = "", ...rest] = name.split(":");
  const model = rest.join(":");
  const { label, local } = PROVIDERS[id]!;
  const set = variables.length > 0 ? `; ${variables.join(", ")} set` : "";
  const text = `model: ${name} (${source}${set})`;
  const finding = (level: Finding["level"], result: string, more: Partial<Finding> = {}): Finding => ({
    area: "model",
    level,
    tested: true,
    text: `${text}${result}`,
    ...more,
  });
  const problem = (error: unknown): Finding =>
    finding("problem", "", { fix: explainModelError(error, { name, baseUrl, env }) });
  try {
    const names = await listModels(id, { env, timeoutMs: TIMEOUT_MS.remote });
    const isListed = names?.some((one) => one === model || one === `${model}:latest`);
    const listing =
      names === undefined
        ? finding("note", `; not tested, as ${label} lists no models`, { tested: false })
        : isListed
          ? finding("ok", `; ${label} answers and has it`)
          : finding(local ? "problem" : "note", `; ${label} answers, but does not list it`, {
              fix: `There ${has(names)}; ${local ? local.get(model) : "check the name"}.`,
            });
    return ask ? [listing, await answer(chosen).catch(problem)] : [listing];
  } catch (error) {
    return [problem(error)];
  }
}

const has = (names: readonly string[]): string =>
  names.length === 0 ? "are no models yet" : `are ${shortList(names)}`;

async function answer({ model, name }: ChosenModel): Promise<Finding> {
  const start = performance.now();
  await model.invoke("Answer with the word ok.", { signal: AbortSignal.timeout(TIMEOUT_MS.answer) });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return { area: "model", level: "ok", tested: true, text: `${name} answered a question in ${seconds} s` };
}

/** Tests a local server; for any other provider, reports the variables that are set. */
async function providerFindings(report: ModelReport, env: Environment): Promise<Finding[]> {
  const { provider, installed, install, variables, baseUrl = "" } = report;
  const { label, local } = PROVIDERS[provider]!;
  if (local) {
    const names = await listModels(provider, { env, timeoutMs: TIMEOUT_MS.local }).catch(() => undefined);
    const [level, text] = names
      ? (["ok", `${label} answers at ${baseUrl}; there ${has(names)}`] as const)
      : (["note", `no ${label} server at ${baseUrl}`] as const);
    return [{ area: "provider", level, tested: true, text }];
  }
  if (variables.length === 0) return [];
  const text = `${label}: ${variables.join(", ")} set (not tested: another model is used)`;
  const fix = installed || !isSource ? {} : { fix: `Its package is missing: ${install}` };
  return [{ area: "provider", level: "note", tested: false, text, ...fix }];
}
