import { HarnessError } from "../../errors.ts";
import { PROVIDERS, type Provider } from "../clients/providers.ts";
import { type Environment, redact } from "../secrets/index.ts";
import { findSet, pickEndpoint, withoutCredentials } from "../settings.ts";
import { failureOf, type Failure } from "./failure.ts";

/** The model that failed, such as the result of `chooseModel`. */
export interface FailedModel {
  /** `provider:model`. */
  name: string;
  baseUrl?: string;
  /** Variables whose keys must not be shown. Default `process.env`. */
  env?: Environment;
}

/**
 * Explains a failed model call in one line, and what to start, install or set. Unwraps the error. Shows no stack trace
 * and no key. Never throws.
 *
 * @example
 * ```ts
 * import { chooseModel, explainModelError } from "holdfast/models";
 *
 * const chosen = await chooseModel();
 * await chosen.model.invoke("Hello").catch((error: unknown) => {
 *   console.error(explainModelError(error, chosen));
 * });
 * ```
 */
export function explainModelError(error: unknown, failed: FailedModel): string {
  const env = failed.env ?? process.env;
  const at = situationOf(failed, env);
  const harnessError = HarnessError.from(error);
  const text = harnessError
    ? harnessError.message + adviceFor(harnessError, at)
    : sentence(failureOf(error), at);
  return redact(text.replaceAll(/\s+/g, " ").trim(), env);
}

interface Situation {
  name: string;
  model: string;
  label: string;
  url: string;
  keyVariable: string | undefined;
  urlVariable: string;
  local: Provider["local"];
}

function situationOf({ name, baseUrl }: FailedModel, env: Environment): Situation {
  const id = name.split(":")[0]!;
  const provider = Object.hasOwn(PROVIDERS, id) ? PROVIDERS[id] : undefined;
  const endpoint = provider && pickEndpoint(provider, env);
  return {
    name,
    model: name.slice(id.length + 1),
    label: provider?.label ?? id,
    url: withoutCredentials(baseUrl ?? provider?.baseUrl ?? "the server"),
    keyVariable: endpoint ? (findSet(env, endpoint.keys) ?? endpoint.keys[0]) : "its API key",
    urlVariable: endpoint?.baseUrl ?? "its base URL",
    local: provider?.local,
  };
}

function adviceFor({ code }: HarnessError, { urlVariable, local }: Situation): string {
  if (code === "bad-response") return ` Check ${urlVariable}.`;
  if (code !== "no-answer") return "";
  const loading = local ? "It may still be loading the model: try again" : "Try again";
  return ` ${loading}, or wait longer with --timeout or HOLDFAST_TIMEOUT, in seconds.`;
}

function sentence({ kind, status, detail, wait }: Failure, at: Situation): string {
  const { name, model, label, url, keyVariable, urlVariable, local } = at;
  const message = detail ? `: ${short(detail)}` : "";
  const laterAdvice = `Try again later${local ? ", and look into its log" : ", or use another model"}.`;
  switch (kind) {
    case "refused":
      return local
        ? `No ${label} server at ${url}: start it with ${local.start}, or set ${urlVariable}.`
        : `No server answers at ${url}: check the network, or set ${urlVariable}.`;
    case "unknown-host":
      return `The host of ${url} was not found: check the network, or set ${urlVariable}.`;
    case "certificate":
      return `The certificate of ${url} is not trusted: behind a proxy, set NODE_EXTRA_CA_CERTS to its certificate.`;
    case "timeout":
      return `${name} did not answer in time at ${url}: ${
        local ? "it may still be loading the model; try again" : "try again"
      }.`;
    case "cut":
      return `The answer from ${url} broke off before it was complete: try again${
        local ? `, and look into ${label}'s log if it happens again` : ""
      }.`;
    case "broke-off":
      return `${label} broke off its answer${message}. ${laterAdvice}`;
    case "malformed":
      return `${url} sent an answer that cannot be read: check that ${urlVariable} is the address of ${name}.`;
    case "cancelled":
      return "The request was cancelled.";
    case "unauthorized":
      return keyVariable
        ? `${label} did not accept the API key (${status}): check ${keyVariable}.`
        : `${label} wants a login (${status}): check ${urlVariable}.`;
    case "forbidden":
      return `${label} does not allow this (${status})${message}. Check what the API key may use.`;
    case "not-found":
      return local
        ? `${label} has no model "${model}": ${local.get(model)}.`
        : `${label} has no model "${model}", or ${url} is the wrong address (${status}${message}): check both.`;
    case "too-long":
      return `The conversation is too long for ${name}: shorten it, or use a model with a larger context.`;
    case "rate-limit":
      if (wait) return `${label} limits requests (${status}) and asks to wait ${Math.ceil(wait / 1000)} s.`;
      return `${label} still limits requests (${status}) after retries: wait a little, or raise maxRetries.`;
    case "no-quota":
      return `The ${label} account has nothing left to spend (${status}): check its plan and billing.`;
    case "server":
      return `${label} failed (${status}) and did not recover${message}. ${laterAdvice}`;
    case "rejected":
      return /does not support tools/i.test(detail)
        ? `${name} cannot call tools: use a model that can.`
        : `${name} rejected the request (${status})${message}`;
    case "other":
      return `${name} failed${message}`;
  }
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 197).toWellFormed()}...` : text.replace(/\.$/, "");
}
