import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { packageFile } from "../../../package-file.ts";
import { EXIT } from "../exit-codes.ts";
import { harmless, shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { refuse } from "../wording.ts";

const NAME = "Holdfast";

/** `holdfast acp --install`: adds the agent to the settings of Zed, and prints what to add in other editors. */
export async function installEditors({ stdout, env }: Terminal): Promise<number> {
  const folder = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  const file = join(folder, "zed", "settings.json");
  // Absolute paths: an editor that was not started in a terminal has another PATH.
  const command = process.execPath;
  const args = [packageFile("dist/surfaces/cli/main.js"), "acp"];
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const after = withAgent(before ?? "", { type: "custom", command, args });
  if (after !== undefined) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, after);
  }
  const result =
    after === undefined ? "has it already, and was not changed" : "was changed: choose it in the agent panel";
  const entry = JSON.stringify({ agent_servers: { [NAME]: { command, args } } }, undefined, 2);
  const text = `Zed: ${file} ${result}.

JetBrains: put this into ~/.jetbrains/acp.json, and choose it in AI Chat.
${entry}

Neovim, with CodeCompanion: an adapter whose command is
${JSON.stringify([command, ...args])}

Any other client of the Agent Client Protocol starts the same command. A model is found in the environment, as
holdfast doctor says; an editor that was not started in a terminal may lack its key: give it in "env".`;
  stdout.write(shown`${harmless(text)}\n`);
  return EXIT.done;
}

/** Adds the agent to settings; undefined if they have it already. Everything else stays as it is, comments included. */
export function withAgent(settings: string, agent: object): string | undefined {
  const entry = `${JSON.stringify(NAME)}: ${JSON.stringify(agent)}`;
  if (settings.trim() === "") return `{\n  "agent_servers": {\n    ${entry}\n  }\n}\n`;
  const servers = /"agent_servers"\s*:\s*\{/.exec(settings);
  if (!servers) return insert(settings, firstBrace(settings), `\n  "agent_servers": {\n    ${entry}\n  }`);
  const start = servers.index + servers[0].length;
  const entries = settings.slice(start);
  return entries.includes(`"${NAME}":`) ? undefined : insert(settings, start, `\n    ${entry}`);
}

/** The position after the opening brace of the settings, which comments may precede. */
function firstBrace(settings: string): number {
  const [front] = /^(?:\s|\/\/[^\n]*\n|\/\*[^]*?\*\/)*/.exec(settings)!;
  if (settings[front.length] !== "{") {
    refuse("The settings of Zed are no JSON object: nothing was changed.");
  }
  return front.length + 1;
}

/** Inserts an entry as the first one of an object. */
function insert(settings: string, at: number, entry: string): string {
  const rest = settings.slice(at);
  const isEmpty = /^(?:\s|\/\/[^\n]*\n|\/\*[^]*?\*\/)*\}/.test(rest);
  return `${settings.slice(0, at)}${entry}${isEmpty ? "\n" : ","}${rest}`;
}
