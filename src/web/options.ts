/** The search service, its key and its address. */
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
   * The only places that pages are fetched from: hosts such as `example.com` or `*.example.com`, `*` for all. An address
   * outside the public internet needs an entry with its origin, such as `http://127.0.0.1:8080`. Default: the public
   * internet.
   */
  allow?: readonly string[];
  /** Hosts or origins that are never fetched from, or functions that decide on a URL. Takes precedence over `allow`. */
  deny?: readonly (string | ((url: URL) => boolean))[];
  /** Variables for keys. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}
