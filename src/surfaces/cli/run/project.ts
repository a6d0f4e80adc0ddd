import { Allowed, openProject, sayTrust, type Project } from "../../../project/index.ts";
import { leftOut, projectNotice } from "../../../threads/prepare/index.ts";
import { oneLine, shown, type Harmless } from "../output/index.ts";
import { canAsk, type OutputFlags, type Terminal } from "../terminal.ts";
import { asTyped, refuse } from "../wording.ts";

export interface ProjectFlags {
  /** `--no-project` is false. */
  project?: boolean;
  trustProject?: boolean;
}

/** A project, and a notice about it to show before a run. */
export interface ProjectOfRun {
  project: Project;
  notice?: string;
}

/**
 * Opens the project in a directory. The user at the terminal is asked once whether to trust a new project; without one,
 * its files are left out, and the notice says so.
 */
export async function projectFor(
  { dir, project: use = true, trustProject }: ProjectFlags & { dir?: string },
  terminal: Terminal,
  output: OutputFlags,
): Promise<ProjectOfRun> {
  const { env } = terminal;
  if (trustProject && dir === undefined) {
    refuse("--trust-project is about a directory: add --dir, such as --dir .");
  }
  const project = await withAllowed(
    await openProject({ dir, env, use: trustProject ? "trust" : use }),
    dir,
    env,
  );
  const isUndecided = project.trust === "unknown" || project.trust === "changed";
  if (dir === undefined || !isUndecided || !canAsk(terminal, output)) return withNotice(project, terminal);
  const answer = await askTrust(project, terminal);
  // A no to changed files does not revoke the trust in the others; the question comes again with the next run.
  if (answer === undefined || (!answer && project.trust === "changed")) return withNotice(project, terminal);
  await sayTrust(dir, answer, env);
  return withNotice(await withAllowed(await openProject({ dir, env }), dir, env), terminal);
}

/** Returns a function that opens the project of a run again, so that changes of files and of trust take effect. */
export function projectIn(
  env: Terminal["env"],
): (settings: { dir?: string; project?: boolean }) => Promise<Project> {
  return async ({ dir, project: use = true }) => withAllowed(await openProject({ dir, env, use }), dir, env);
}

/** Adds the rules that are allowed permanently in the directory. */
async function withAllowed(
  project: Project,
  dir: string | undefined,
  env: Terminal["env"],
): Promise<Project> {
  const rules = dir === undefined ? [] : await new Allowed(dir, env).rules();
  const allow = [...(project.config.allow ?? []), ...rules];
  return rules.length > 0 ? { ...project, config: { ...project.config, allow } } : project;
}

/** Asks whether to trust a project. Undefined on Ctrl-C. */
async function askTrust(project: Project, terminal: Terminal): Promise<boolean | undefined> {
  const { root = "", trust, offers } = project;
  const head =
    trust === "changed"
      ? shown`These have changed since you trusted ${oneLine(root)}: ${oneLine(leftOut(project))}. Use them?`
      : shown`Do you trust ${oneLine(root)}? Its files tell agents how to work: ${oneLine(leftOut(project))}.`;
  const question = offers.reduce<Harmless>((text, line) => shown`${text}\n  ${oneLine(line)}`, head);
  const { choose, dropTyped } = await import("../prompts.ts");
  await dropTyped(terminal);
  const choice = await choose(
    question,
    [
      { value: "yes", label: shown`Yes, use them` },
      { value: "no", label: shown`No, work without them` },
    ],
    terminal,
  );
  return choice === undefined ? undefined : choice === "yes";
}

function withNotice(project: Project, { env }: Terminal): ProjectOfRun {
  const notice = projectNotice(project);
  return { project, notice: notice === undefined ? undefined : asTyped(notice, env) };
}
