/** The search service and its address. */
export interface SearchOptions {
  provider: "tavily" | "exa" | "brave";
  /** Default: the provider's variable, `TAVILY_API_KEY`, `EXA_API_KEY` or `BRAVE_API_KEY`. */
  apiKey?: string;
  /** Another address of the service, such as a proxy's. */
  baseUrl?: string;
}

/** Options of `webTools`, and the option `web` of the harnesses. */
export interface WebOptions {
  /** The tool `web_fetch`. Default true. */
  fetch?: boolean;
  /** The tool `web_search`. Default: the first provider whose key is in the environment; `false` leaves it out. */
  search?: false | SearchOptions;
  /**
   * Where alone pages are fetched from: hosts such as `example.com` or `*.example.com`, `*` for all. Addresses that are
   * not of the public internet are only reached where an entry names their origin, such as `http://127.0.0.1:8080`.
   * Default: all of the public internet.
   */
  allow?: readonly string[];
  /** Hosts or origins that are never fetched from, or who says so of an address. Goes before `allow`. */
  deny?: readonly (string | ((url: URL) => boolean))[];
  /** Variables for keys. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}
