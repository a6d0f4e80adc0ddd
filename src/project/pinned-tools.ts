import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isInside } from "../files/paths/index.ts";
import type { ToolDefinition, ToolPins } from "../mcp/index.ts";
import { defaultStatePath } from "../storage/index.ts";
import type { Environment } from "./places.ts";
import { UserFile } from "./user-file.ts";

const DEFINITION: z.ZodType<ToolDefinition> = z.object({
  description: z.string(),
  hints: z.record(z.string(), z.boolean()),
  schema: z.looseObject({}),
});
const SERVERS = z.record(z.string(), z.record(z.string(), DEFINITION));

/** Definitions of MCP tools that a user accepted in a folder, by server. Stored outside of it, by real path. */
export class PinnedTools implements ToolPins {
  readonly #file: UserFile<z.output<typeof SERVERS>>;
  readonly #dir: string | undefined;

  constructor(dir: string | undefined, env: Environment) {
    this.#file = new UserFile(join(dirname(defaultStatePath(env)), "tools.json"), SERVERS);
    this.#dir = dir;
  }

  async of(server: string): Promise<Record<string, ToolDefinition> | undefined> {
    return (await this.#file.read()).get(await this.#folder())?.[server];
  }

  async pin(server: string, tools: Record<string, ToolDefinition>): Promise<void> {
    const folder = await this.#folder();
    await this.#file.change((folders) => {
      const servers = folders.get(folder) ?? {};
      folders.set(folder, { ...servers, [server]: { ...servers[server], ...tools } });
    });
  }

  /** Deletes the accepted definitions of the folder and of its subfolders; the next ones are accepted again. */
  async forget(): Promise<void> {
    const folder = await this.#folder();
    const isAffected = (one: string): boolean => one === folder || isInside(one, folder);
    if (![...(await this.#file.read()).keys()].some(isAffected)) return;
    await this.#file.change((folders) => {
      for (const one of [...folders.keys()].filter(isAffected)) folders.delete(one);
    });
  }

  /** The key of the entry; empty for runs without a folder. */
  async #folder(): Promise<string> {
    const dir = this.#dir;
    return dir === undefined ? "" : realpath(dir).catch(() => dir);
  }
}
