import type { McpServer } from "../options.ts";

const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie/i;
/** What is shorter is a word that may stand anywhere. */
const SHORTEST = 6;

/** What a server was given to prove who we are. No error and no result shows it to a model. */
export class Secrets {
  readonly #forms: readonly string[];

  constructor(server: McpServer) {
    const values =
      "command" in server
        ? Object.entries(server.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
        : [...Object.values(server.headers ?? {}), server.oauth?.clientSecret ?? ""];
    // Of `Bearer abc` also the key alone.
    const parts = values.flatMap((value) => [value, value.split(" ").at(-1)!]);
    this.#forms = [...new Set(parts)]
      .filter((one) => one.length >= SHORTEST)
      .toSorted((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    return this.#forms.reduce((shown, form) => shown.replaceAll(form, "[hidden]"), text);
  }
}
