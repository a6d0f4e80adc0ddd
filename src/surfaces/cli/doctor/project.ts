import { HarnessError } from "../../../errors.ts";
import { Allowed, openProject, type Project } from "../../../project/index.ts";
import type { Terminal } from "../terminal.ts";
import { packageState, type Finding } from "./finding.ts";

const MCP_CLIENT = "@modelcontextprotocol/client";

/** Lists every file that a run in this directory would read, what it sets, and why it may be left out. */
export async function projectFindings(
  { env, cwd }: Pick<Terminal, "env" | "cwd">,
  { stateOf = packageState }: { stateOf?: typeof packageState } = {},
): Promise<{ findings: Finding[]; project?: Project }> {
  try {
    const project = await openProject({ dir: cwd, env });
    const findings = project.files.map(({ path, kind, isUsed, says }): Finding => {
      const finding = { area: "project", text: `${kind}: ${path}: ${says}` } as const;
      if (kind !== "mcp" || !isUsed) return { ...finding, level: isUsed ? "ok" : "note", tested: isUsed };
      // Servers are not started here.
      if (stateOf(MCP_CLIENT)) return { ...finding, level: "note", tested: false };
      return { ...finding, level: "problem", tested: true, fix: `npm install ${MCP_CLIENT}@2` };
    });
    const allowed = new Allowed(cwd, env);
    const rules = await allowed.rules();
    if (rules.length > 0) {
      const text = `always allowed here: ${rules.join(", ")} (${allowed.file}; /allow in a session removes a rule)`;
      findings.push({ area: "project", level: "ok", tested: true, text });
    }
    return { findings, project };
  } catch (error) {
    const text = HarnessError.from(error)?.message ?? String(error);
    const fix = "Runs in this directory stop here: correct it, or leave the project out with --no-project.";
    return { findings: [{ area: "project", level: "problem", tested: true, text, fix }] };
  }
}
