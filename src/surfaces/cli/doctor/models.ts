import { HarnessError } from "../../../errors.ts";
import { chooseModel, type ChosenModel } from "../../../models/choose.ts";
import { PROVIDERS } from "../../../models/clients/providers.ts";
import { describeModels, type ModelReport } from "../../../models/describe.ts";
import { explainModelError } from "../../../models/failure/explain.ts";
import type { Environment } from "../../../models/index.ts";
import { listModels } from "../../../models/list-models.ts";
import { isSource } from "../../../package-file.ts";
import { shortList } from "../../../threads/events/short-list.ts";
import { PLAYED } from "../../../threads/prepare/model.ts";
import type { Finding } from "./finding.ts";

/** Time limits for a server on this machine, one elsewhere, and a model's answer. */
const PATIENCE_MS = { near: 1500, far: 10_000, answer: 60_000 };

/** Checks the model that a run would use, and all others that are set up. */
export async function modelFindings(
  env: Environment,
  { ask, set }: { ask: boolean; /** The model that settings files name. */ set?: string | undefined },
): Promise<Finding[]> {
  const chosen = await chosenModel(env, set);
  const id = "name" in chosen ? chosen.name.split(":")[0] : undefined;
  const reports = describeModels(env);
  const used = reports.find(({ provider }) => provider === id);
  const others = eachVariableOnce(reports).filter((report) => report.provider !== id);
  const [tested, ...found] = await Promise.all([
    "name" in chosen ? testModel(chosen, { env, ask, variables: used?.variables ?? [] }) : [chosen],
    ...others.map((report) => providerFindings(report, env)),
  ]);
  return [...tested, ...found.flat()];
}

/** Some variables are read for several providers; the first one is meant. */
function eachVariableOnce(reports: readonly ModelReport[]): ModelReport[] {
  const said = new Set<string>();
  return reports.map((report) => {
    const variables = report.variables.filter((name) => !said.has(name));
    for (const name of variables) said.add(name);
    return { ...report, variables };
  });
}

/** The model that a run would use, or why there is none. */
async function chosenModel(env: Environment, set: string | undefined): Promise<ChosenModel | Finding> {
  const given = env["HOLDFAST_MODEL"]?.trim();
  const source = given ? "HOLDFAST_MODEL" : "settings";
  const program = PLAYED.find((name) => name === (given || set));
  if (program) {
    return { area: "model", level: "ok", tested: false, text: `model: ${program} (${source})` };
  }
  try {
    const model = given ? undefined : set;
    const chosen = await chooseModel({
      env,
      settings: { maxRetries: 0, timeout: PATIENCE_MS.answer },
      ...(model !== undefined && { model }),
    });
    return model === undefined ? chosen : { ...chosen, source };
  } catch (error) {
    const known = HarnessError.from(error);
    if (known?.code !== "no-model") {
      return { area: "model", level: "problem", tested: false, text: known?.message ?? String(error) };
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

/** Tests address and key by the list of models, which is free; the model itself only when `ask` says so. */
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
  const problem = (error: unknown): Finding => ({
    area: "model",
    level: "problem",
    tested: true,
    text,
    fix: explainModelError(error, { name, baseUrl, env }),
  });
  try {
    const names = await listModels(id, { env, timeoutMs: PATIENCE_MS.far });
    const isListed = names?.some((one) => one === model || one === `${model}:latest`);
    const found: Finding =
      names === undefined
        ? {
            area: "model",
            level: "note",
            tested: false,
            text: `${text}; not tested, as ${label} lists no models`,
          }
        : isListed
          ? { area: "model", level: "ok", tested: true, text: `${text}; ${label} answers and has it` }
          : {
              area: "model",
              level: local ? "problem" : "note",
              tested: true,
              text: `${text}; ${label} answers, but does not list it`,
              fix: `There ${has(names)}; ${local ? local.get(model) : "check the name"}.`,
            };
    return ask ? [found, await answer(chosen).catch(problem)] : [found];
  } catch (error) {
    return [problem(error)];
  }
}

const has = (names: readonly string[]): string =>
  names.length === 0 ? "are no models yet" : `are ${shortList(names)}`;

async function answer({ model, name }: ChosenModel): Promise<Finding> {
  const start = performance.now();
  await model.invoke("Answer with the word ok.", { signal: AbortSignal.timeout(PATIENCE_MS.answer) });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return { area: "model", level: "ok", tested: true, text: `${name} answered a question in ${seconds} s` };
}

/** Servers on this machine are asked; of others only what is set is said, and nothing where nothing is. */
async function providerFindings(report: ModelReport, env: Environment): Promise<Finding[]> {
  const { provider, installed, install, variables, baseUrl = "" } = report;
  const { label, local } = PROVIDERS[provider]!;
  const seen: Finding[] =
    variables.length === 0
      ? []
      : [
          {
            area: "provider",
            level: "note",
            tested: false,
            text: `${label}: ${variables.join(", ")} set (not tested: another model is used)`,
            ...(!installed && isSource && { fix: `Its package is missing: ${install}` }),
          },
        ];
  if (!local) return seen;
  const names = await listModels(provider, { env, timeoutMs: PATIENCE_MS.near }).catch(() => undefined);
  const server: Finding = names
    ? {
        area: "provider",
        level: "ok",
        tested: true,
        text: `${label} answers at ${baseUrl}; there ${has(names)}`,
      }
    : { area: "provider", level: "note", tested: true, text: `no ${label} server at ${baseUrl}` };
  return [server];
}
