import type { McpServer } from "../options.ts";

const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie/i;
/** The shortest secret that is hidden: a shorter one may be an ordinary word. */
const MIN_CHARS = 6;

/** The credentials of a server, which are hidden from models in errors and results. */
export class Secrets {
  readonly #forms: readonly string[];

  constructor(server: McpServer) {
    const values =
      "command" in server
        ? Object.entries(server.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
        : [...Object.values(server.headers ?? {}), server.oauth?.clientSecret ?? ""];
    // `Bearer abc` also gives the key alone.
    const parts = values.flatMap((value) => [value, value.split(" ").at(-1)!]);
    this.#forms = [...new Set(parts)]
      .filter((one) => one.length >= MIN_CHARS)
      .toSorted((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    return this.#forms.reduce((rest, form) => rest.replaceAll(form, "[hidden]"), text);
  }
}
