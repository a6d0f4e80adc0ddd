import { redact } from "../../../models/secrets/redact.ts";
import type { Finding } from "../doctor/finding.ts";
import { machineFindings } from "../doctor/machine.ts";
import { modelFindings } from "../doctor/models.ts";
import { projectFindings } from "../doctor/project.ts";
import { serverFindings } from "../doctor/servers.ts";
import { storageFindings } from "../doctor/storage.ts";
import { tracesFindings } from "../doctor/traces.ts";
import { EXIT } from "../exit-codes.ts";
import { oneLine, shown, shownJson, type Harmless } from "../output/harmless.ts";
import { paintOf, type Terminal } from "../terminal.ts";
import { statePath, type StateFlags } from "../threads/threads.ts";
import { asTyped } from "../wording.ts";

export interface DoctorFlags extends StateFlags {
  ask?: boolean | undefined;
  json?: boolean | undefined;
  mcpConfig?: readonly string[] | undefined;
}

const LEGEND = shown`(✓ works, · was only seen or is not needed, ✗ keeps a run from working)`;

/** `holdfast doctor`: tests what can be tested for free, says what it has only seen, and what to do. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const { ask, json, mcpConfig } = flags;
  const { stdout, env } = terminal;
  const { findings: files, project } = await projectFindings(terminal);
  const [machine, models, storage, servers] = await Promise.all([
    machineFindings(terminal),
    modelFindings(env, { ask: ask === true, set: project?.config.model }),
    storageFindings(statePath(flags, terminal)),
    serverFindings(mcpConfig, terminal),
  ]);
  const [versions, ...rest] = machine;
  // Whatever was found in the environment or said by a server: none of it is shown with a secret in it.
  const seen = [versions!, ...models, ...files, ...storage, ...servers, ...rest, ...tracesFindings(env)];
  const findings = seen.map((finding) => ({
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
