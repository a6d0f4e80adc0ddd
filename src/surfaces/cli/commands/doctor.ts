import { resolve } from "node:path";
import { HarnessError } from "../../../errors.ts";
import type { Environment } from "../../../models/index.ts";
import { redact } from "../../../models/secrets/index.ts";
import { switchedOffBy, urlOf, type Signal } from "../../../threads/traces/index.ts";
import {
  type Finding,
  machineFindings,
  modelFindings,
  projectFindings,
  storageFindings,
} from "../doctor/index.ts";
import { EXIT } from "../exit-codes.ts";
import { oneLine, shown, shownJson, type Harmless } from "../output/index.ts";
import { paintOf, type Terminal } from "../terminal.ts";
import { statePath, type StateFlags } from "../threads/index.ts";
import { asTyped } from "../wording.ts";

export interface DoctorFlags extends StateFlags {
  ask?: boolean;
  json?: boolean;
  mcpConfig?: readonly string[];
}

const LEGEND = shown`(✓ works, · was only seen or is not needed, ✗ keeps a run from working)`;

/** `holdfast doctor`: tests what is free to test, reports the rest as not tested, and says how to fix problems. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const { ask, json, mcpConfig } = flags;
  const { stdout, env } = terminal;
  const { findings: files, project } = await projectFindings(terminal);
  const [machine, models, storage, servers] = await Promise.all([
    machineFindings(terminal),
    modelFindings(env, { ask: ask === true, configured: project?.config.model }),
    storageFindings(statePath(flags, terminal)),
    serverFindings(mcpConfig, terminal),
  ]);
  const [versions, ...rest] = machine;
  const all = [versions!, ...models, ...files, ...storage, ...servers, ...rest, ...tracesFindings(env)];
  // Texts from the environment or a server may contain secrets.
  const findings = all.map((finding) => ({
    ...finding,
    text: redact(finding.text, env),
    ...(finding.fix !== undefined && { fix: redact(finding.fix, env) }),
  }));
  const paint = paintOf(terminal);
  const signs = {
    ok: paint("green", shown`✓`),
    note: paint("dim", shown`·`),
    problem: paint("red", shown`✗`),
  };
  const typed = (text: string): Harmless => oneLine(asTyped(text, env));
  const line = ({ level, text, fix }: Finding): Harmless =>
    shown`${signs[level]} ${typed(text)}${fix === undefined ? shown`` : shown`\n    ${typed(fix)}`}`;
  for (const finding of findings) stdout.write(shown`${json ? shownJson(finding) : line(finding)}\n`);
  if (!json) stdout.write(shown`${paint("dim", LEGEND)}\n`);
  return findings.some(({ level }) => level === "problem") ? EXIT.failed : EXIT.done;
}

/** Starts the MCP servers in files, and counts their tools. */
async function serverFindings(
  files: readonly string[] | undefined,
  { env, cwd }: Terminal,
): Promise<Finding[]> {
  if (files === undefined) return [];
  // Loaded on demand, with LangChain, which the other checks do not need.
  const { McpServers } = await import("../../../mcp/index.ts");
  const { readMcpFile } = await import("../../../threads/prepare/mcp-servers.ts");
  const findings = files.map(async (file): Promise<Finding[]> => {
    try {
      const { mcpServers } = await readMcpFile(resolve(cwd, file));
      return await Promise.all(
        Object.entries(mcpServers).map(async ([name, server]): Promise<Finding> => {
          const options = { mcpServers: { [name]: server }, env, dir: cwd, onNote: () => {} };
          const servers = new McpServers(options);
          const { length } = await servers.tools();
          await servers.close();
          const [note] = servers.notes;
          if (note !== undefined) return { area: "mcp", level: "problem", tested: true, text: note };
          const tools = server.disabled ? "disabled" : `${length} ${length === 1 ? "tool" : "tools"}`;
          return { area: "mcp", level: "ok", tested: !server.disabled, text: `MCP server ${name}: ${tools}` };
        }),
      );
    } catch (error) {
      const text = HarnessError.from(error)?.message ?? String(error);
      return [{ area: "mcp", level: "problem", tested: true, text }];
    }
  });
  return (await Promise.all(findings)).flat();
}

/** The addresses of traces and metrics; empty if none are configured. */
function tracesFindings(env: Environment): Finding[] {
  return (["traces", "metrics"] as const).flatMap((signal) => findingsOf(signal, env));
}

function findingsOf(signal: Signal, env: Environment): Finding[] {
  const names = [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`, "OTEL_EXPORTER_OTLP_ENDPOINT"];
  const name = names.find((one) => env[one]);
  if (name === undefined) return [];
  const finding = { area: "traces", level: "note", tested: false } as const;
  const off = switchedOffBy(signal, env);
  if (off !== undefined) return [{ ...finding, text: `${signal}: none, since ${off} says so` }];
  const url = urlOf(signal, env);
  if (url === undefined) {
    const fix = "Write an address, such as http://127.0.0.1:4318.";
    return [{ ...finding, text: `${signal}: none, since ${name} is no address`, fix }];
  }
  const isGrpc = new URL(url).port === "4317";
  const fix = "That is the usual port of gRPC; OTLP over HTTP is most often at 4318.";
  return [
    {
      ...finding,
      text: `${signal}: posted to ${url} as OTLP/JSON (not tested)`,
      fix: isGrpc ? fix : undefined,
    },
  ];
}
