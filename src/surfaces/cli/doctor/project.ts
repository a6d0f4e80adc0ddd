import { HarnessError } from "../../../errors.ts";
import { Allowed } from "../../../project/allowed.ts";
import { openProject, type Project } from "../../../project/index.ts";
import type { Terminal } from "../terminal.ts";
import type { Finding } from "./finding.ts";

/** Every file that a run in this directory would read, what it sets, and why something is left out. */
export async function projectFindings({
  env,
  cwd,
}: Terminal): Promise<{ findings: Finding[]; project?: Project }> {
  try {
    const project = await openProject({ dir: cwd, env });
    const findings = project.files.map(({ path, kind, isUsed, says }): Finding => ({
      area: "project",
      level: isUsed ? "ok" : "note",
      tested: isUsed,
      text: `${kind}: ${path}: ${says}`,
    }));
    const allowed = new Allowed(cwd, env);
    const rules = await allowed.rules();
    if (rules.length > 0) {
      const text = `allowed here for good: ${rules.join(", ")} (${allowed.file}; /allow in a session takes one back)`;
      findings.push({ area: "project", level: "ok", tested: true, text });
    }
    return { findings, project };
  } catch (error) {
    const text = HarnessError.from(error)?.message ?? String(error);
    const fix = "Runs in this directory stop here: correct it, or leave the project out with --no-project.";
    return { findings: [{ area: "project", level: "problem", tested: true, text, fix }] };
  }
}
