import { createRequire } from "node:module";
import { attempt } from "../../../errors.ts";
import {
  bubblewrapWorks,
  callsAreFiltered,
  limitsInNamespaces,
  seatbeltIsThere,
} from "../../../files/shell/index.ts";
import { version } from "../../../version.ts";
import { canAsk, whyPlain, type Terminal } from "../terminal.ts";
import { editorOf } from "../threads/index.ts";
import { packageState, type Finding } from "./finding.ts";

const PACKAGES = ["langchain", "@langchain/langgraph", "@langchain/core"];

const PROTOCOLS = [
  { area: "editor", command: "acp", sdk: "@agentclientprotocol/sdk" },
  { area: "mcp", command: "mcp", sdk: "@modelcontextprotocol/server" },
] as const;

/** Checks the machine: versions, sandbox, editor and terminal. */
export async function machineFindings(terminal: Terminal): Promise<Finding[]> {
  return [versions(), sandbox(), editor(terminal), ...PROTOCOLS.map(protocol), screen(terminal)];
}

function versions(): Finding {
  const require = createRequire(import.meta.url);
  // The command bundles its own copies; these are the ones that a program in this project would use.
  const packages = PACKAGES.flatMap((name) => {
    const manifest = attempt(() => require(`${name}/package.json`) as { version: string });
    return manifest ? `${name} ${manifest.version}` : [];
  });
  const { platform, arch, versions: engine } = process;
  const [major = 0, minor = 0] = engine.node.split(".").map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return {
    area: "version",
    level: isOld ? "problem" : "ok",
    tested: true,
    text: [`Holdfast ${version()}`, `Node ${engine.node} on ${platform} ${arch}`, ...packages].join(", "),
    fix: isOld ? "Holdfast needs Node 20.19 or newer." : undefined,
  };
}

const LIMITS = {
  processes: "processes",
  memory: "memory of a process",
  openFiles: "open files",
  fileSize: "size of a file",
  totalMemory: "memory of all processes together",
} as const;

function sandbox(): Finding {
  if (bubblewrapWorks()) {
    const limits = Object.entries(limitsInNamespaces());
    const listed = (isEnforced: boolean): string =>
      limits
        .flatMap(([name, one]) => (one === isEnforced ? LIMITS[name as keyof typeof LIMITS] : []))
        .join(", ");
    const without = limits.every(([, one]) => one) ? "" : `; no limit on ${listed(false)}`;
    const text = `bubblewrap works: commands of --shell and of lead agents are isolated; ${callsAreFiltered() ? "system calls are filtered" : "no filter of system calls"}; limits on ${listed(true) || "nothing"}${without}`;
    return { area: "sandbox", level: "ok", tested: true, text };
  }
  if (seatbeltIsThere()) {
    const text = "commands of --shell are isolated by macOS' sandbox (not tested); lead agents run none";
    return { area: "sandbox", level: "note", tested: false, text };
  }
  const isMac = process.platform === "darwin";
  return {
    area: "sandbox",
    level: "note",
    tested: true,
    text: `${isMac ? "nothing isolates commands" : "bubblewrap does not work"} here: commands of --shell run with your rights, and lead agents run none`,
    fix: isMac
      ? "npm install @anthropic-ai/sandbox-runtime"
      : "apt-get install bubblewrap; in a container it also needs user namespaces",
  };
}

function editor({ env }: Terminal): Finding {
  const { command, source } = editorOf(env);
  return { area: "editor", level: "note", tested: false, text: `editor: ${command} (${source}; not tested)` };
}

/** A command that needs an optional package. */
function protocol({ area, command, sdk }: (typeof PROTOCOLS)[number]): Finding {
  const about = { area, level: "note", tested: false } as const;
  const state = packageState(sdk);
  if (state) return { ...about, text: `holdfast ${command}: ${sdk} is ${state}` };
  return { ...about, text: `holdfast ${command} needs ${sdk}`, fix: `npm install ${sdk}@2` };
}

function screen(terminal: Terminal): Finding {
  const { stdout, env } = terminal;
  const plain = whyPlain(terminal);
  const size = stdout.isTTY ? `${stdout.columns}×${stdout.rows}, TERM=${env["TERM"] ?? ""}; ` : "";
  const view = plain === undefined ? "a live plan in colours" : `plain lines (${plain})`;
  const asks = canAsk(terminal, {})
    ? "questions are asked here"
    : "questions wait for holdfast resume --answer";
  return { area: "terminal", level: "ok", tested: true, text: `terminal: ${size}${view}; ${asks}` };
}
