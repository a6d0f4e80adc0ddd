import type { McpServer } from "../options.ts";

const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie/i;
/** The shortest secret that is searched for: a shorter one may be an ordinary word. */
const SHORTEST = 6;

/** Credentials given to a server. No error or result shows them to a model. */
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
