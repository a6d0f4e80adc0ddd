import { draw, drawBetween } from "./draw.ts";

/** One step of a job: a service to migrate, and the services that must be migrated before it. */
export interface JobStep {
  name: string;
  after: string[];
}

/** What the user asks for, and how many work calls each step takes, which the model finds out by working. */
export interface Job {
  seed: string;
  steps: JobStep[];
  calls: ReadonlyMap<string, number>;
}

const LONG_SHARE = 0.2;
const LONG_CALLS = 3;

const NAMES = (
  "billing search profile shipping catalog reports payments calendar inbox audit export import login " +
  "metrics pricing quota rating refunds returns sessions stock tax upload wallet"
).split(" ");

/** The words with which every request begins. */
export const REQUEST = "Migrate these services, one do_step call for each, and say when all are done:";

/**
 * The job of a seed: 4 to 12 steps, fewer ones more often; about a third wait for an earlier one, and one in five
 * takes three work calls.
 */
export function jobOf(seed: string): Job {
  const size = Math.min(...["a", "b", "c"].map((key) => drawBetween(4, 12, seed, "size", key)));
  const names = NAMES.toSorted((a, b) => draw(seed, "name", a) - draw(seed, "name", b)).slice(0, size);
  const steps = names.map((name, at): JobStep => {
    const waits = at > 0 && draw(seed, "waits", at) < 1 / 3;
    return { name, after: waits ? [names[drawBetween(0, at - 1, seed, "for", at)]!] : [] };
  });
  const calls = new Map(names.map((name) => [name, draw(seed, "long", name) < LONG_SHARE ? LONG_CALLS : 1]));
  return { seed, steps, calls };
}

/** The user's message. */
export function requestOf({ steps }: Job): string {
  return [REQUEST, ...steps.map((step) => `- ${contentOf(step)}`)].join("\n");
}

/** A step in words, for a message or for an item of a plan. `bare` leaves its dependencies out. */
export function contentOf({ name, after }: JobStep, form: "full" | "bare" = "full"): string {
  const waits = form === "full" && after.length > 0 ? ` (after ${after.join(", ")})` : "";
  return `Migrate the ${name} service${waits}`;
}

/** The step that a text is about, with the dependencies it mentions; `undefined` if it is about none. */
export function stepIn(content: string): JobStep | undefined {
  const name = /Migrate the (\w+) service/.exec(content)?.[1];
  if (name === undefined) return undefined;
  const after = /\(after ([^);]+)/.exec(content)?.[1];
  return { name, after: after?.split(", ") ?? [] };
}
