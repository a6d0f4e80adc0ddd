import type { ScriptedCall } from "../scripted-model.ts";

/** One answer of a provider: thoughts, text and calls. */
export interface ProviderTurn {
  thoughts?: string;
  text?: string;
  calls?: readonly ScriptedCall[];
  /**
   * The answer ends at the output limit, and the arguments of its last call in the middle. `unsaid`: the server gives the
   * same reason for the end as for a whole answer, as some gateways do.
   */
  cut?: "said" | "unsaid";
}

/** One step of a provider's script: an answer, or an error in the provider's form. */
export type ProviderStep = ProviderTurn | { status: number; error: string };

// oxlint-disable-next-line typescript/no-explicit-any -- a request of any shape; its rules look at it
export type Json = any;

/** A complete answer: with call ids, and its position in the script. */
export interface WireTurn {
  thoughts: string;
  text: string;
  calls: readonly Required<ScriptedCall>[];
  cut: ProviderTurn["cut"];
  at: number;
  /** `output` includes `reasoning`; `input` includes `cached`. */
  usage: WireUsage;
}

export interface WireUsage {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

/** A provider's protocol: the rules of a request, and the form of an answer. */
export interface Wire {
  /** The paths of requests for an answer. For other paths, see `other`. */
  path: RegExp;
  /** The provider's error for the first documented rule that a request breaks. */
  refusal: (body: Json, path: string) => string | undefined;
  /** Whether a request asks the provider to cache its prefix. Absent: the provider always does. */
  hints?: (body: Json) => boolean;
  streams: (body: Json, path: string) => boolean;
  whole: (turn: WireTurn, body: Json) => Json;
  /** The body of a streamed answer. */
  streamed: (turn: WireTurn, body: Json) => string;
  contentType: string;
  error: (status: number, message: string) => Json;
  /** Answers of other paths. */
  other?: Record<string, (body: Json) => Json>;
  /** An id for a call. Absent: the protocol has none. */
  callId?: (at: number, index: number) => string;
}

/** The arguments of a call as text: a part of them if the answer was cut off there. */
export function argumentsText({ calls, cut }: WireTurn, at: number): string {
  const text = JSON.stringify(calls[at]!.args);
  return cut && at === calls.length - 1 ? text.slice(0, Math.ceil(text.length * 0.6)) : text;
}

/** Server-sent events, one for each piece of data. */
export function events(all: readonly Json[], end = ""): string {
  const lines = all.map((piece) => {
    const name = typeof piece.type === "string" ? `event: ${piece.type}\n` : "";
    return `${name}data: ${JSON.stringify(piece)}\n\n`;
  });
  return lines.join("") + end;
}

/** Splits a text into two pieces for a stream; none for an empty text. */
export function pieces(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "");
}

/** The first refusal among several checks. */
export function firstOf(...checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const refusal = check();
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The first refusal among the members of a list. */
export function each<T>(
  list: readonly T[],
  check: (member: T, at: number) => string | undefined,
): string | undefined {
  return firstOf(...list.map((member, at) => () => check(member, at)));
}
