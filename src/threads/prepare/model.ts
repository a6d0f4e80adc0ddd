import { HarnessError } from "../../errors.ts";
import { chooseModel, type ChosenModel, type Environment, PLAYED, playedModel } from "../../models/index.ts";

export const OFFLINE = "offline";

/** The default pace of a program for a user who watches. */
const READABLE = { thinkMs: 250, wordMs: 15 };

/** The model of a run. `isFallback`: nothing is configured, so `offline` is used. */
export async function modelFor(
  name: string | undefined,
  {
    env,
    isWatched,
    timeout,
  }: {
    env: Environment;
    isWatched: boolean;
    /** The time limit for a silent server, in seconds. */
    timeout?: number;
  },
): Promise<ChosenModel & { isFallback: boolean }> {
  const requested = name ?? (env["HOLDFAST_MODEL"]?.trim() || undefined);
  const programModel = async (program: (typeof PLAYED)[number], isFallback: boolean) => ({
    model: await playedModel(program, isWatched ? paceOf(env) : undefined),
    name: program,
    source: isFallback ? "default" : "option",
    isFallback,
  });
  const program = PLAYED.find((one) => one === requested);
  if (program) return programModel(program, false);
  try {
    const settings = timeout === undefined ? {} : { timeout: timeout * 1000 };
    const chosen = await chooseModel({ env, settings, model: name });
    return { ...chosen, isFallback: false };
  } catch (error) {
    if (HarnessError.from(error)?.code !== "no-model" || name !== undefined) throw error;
    return programModel(OFFLINE, true);
  }
}

/** The pace of a program, multiplied by `HOLDFAST_PACE`; 0 means no delay. */
function paceOf(env: Environment): { thinkMs: number; wordMs: number } {
  const times = Number(env["HOLDFAST_PACE"] || 1);
  if (!(times >= 0)) {
    throw new HarnessError(
      "invalid-options",
      `HOLDFAST_PACE is "${env["HOLDFAST_PACE"]}"; use a number such as 0 or 2.`,
    );
  }
  return { thinkMs: READABLE.thinkMs * times, wordMs: READABLE.wordMs * times };
}
