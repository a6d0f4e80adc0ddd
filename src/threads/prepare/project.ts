import { relative } from "node:path";
import type { Project } from "../../project/index.ts";
import { quoted, shortList } from "../events/index.ts";

/** The model of the settings files, unless the environment names one. */
export function settledModel(
  { config }: Pick<Project, "config">,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return env["HOLDFAST_MODEL"]?.trim() ? undefined : config.model;
}

const REASONS: Partial<Record<Project["trust"], string>> = {
  unknown: "because this folder is not trusted",
  refused: "as this folder is not trusted",
  changed: "as they have changed since this folder was trusted",
};

/** A notice about project files that are not used; undefined if all are used. */
export function projectNotice(project: Project): string | undefined {
  const reason = REASONS[project.trust];
  const odd = project.files.filter(({ isUsed, isUntrusted }) => !isUsed && !isUntrusted).length;
  const lines = [
    ...(reason === undefined
      ? []
      : [
          `Left out, ${reason}: ${leftOut(project)}. Say yes with holdfast trust ${quoted(project.root ?? ".")}`,
        ]),
    ...(odd > 0 ? [`Not everything in the project's files can be used: see holdfast doctor`] : []),
  ];
  return lines.length > 0 ? `${lines.join(". ")}.` : undefined;
}

/** The names of files that are not used because no one has trusted them. */
export function leftOut({ files, root = "" }: Project): string {
  const names = files
    .filter(({ isUntrusted }) => isUntrusted)
    .map(({ path }) => relative(root, path) || path);
  return shortList(names);
}
