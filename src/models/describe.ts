import { createRequire } from "node:module";
import { attempt } from "../errors.ts";
import { PROVIDERS } from "./clients/providers.ts";
import type { Environment } from "./secrets/environment.ts";
import { pickBaseUrl, setVariables, withoutCredentials } from "./settings.ts";

/** The state of one provider. */
export interface ModelReport {
  provider: string;
  package: string;
  installed: boolean;
  /** The command that installs the package. */
  install: string;
  /** The variables of the provider that are set: names, never values. */
  variables: string[];
  /** Where requests would go, without credentials. Absent when it is not set, or no URL. */
  baseUrl?: string;
}

/** Reports for every provider whether its package is installed and what is set for it. Default `process.env`. */
export function describeModels(env: Environment = process.env): ModelReport[] {
  const { resolve } = createRequire(import.meta.url);
  return Object.entries(PROVIDERS).map(([id, provider]) => {
    const baseUrl = attempt(() => pickBaseUrl(provider, env));
    return {
      provider: id,
      package: provider.package,
      installed: attempt(() => resolve(provider.package)) !== undefined,
      install: `npm install ${provider.install}`,
      variables: setVariables(provider, env),
      ...(baseUrl !== undefined && { baseUrl: withoutCredentials(baseUrl) }),
    };
  });
}
