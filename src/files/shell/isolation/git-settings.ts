import { readSettings, repositoryOf } from "../../git/index.ts";

/** Git's settings files in a home folder. They may contain tokens in URLs, headers and helpers. */
export const GIT_SETTINGS: readonly string[] = [".gitconfig", ".config/git/config"];

/** Settings that commands need and that contain no secrets. */
export const HARMLESS =
  /^(?:(?:user|author|committer)\.(?:name|email)|user\.useconfigonly|safe\.directory|init\.defaultbranch|core\.(?:autocrlf|eol|safecrlf|quotepath|excludesfile|attributesfile|ignorecase|precomposeunicode|commentchar|abbrev)|(?:advice|color|column|status|feature)\.[a-z]+|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.prune|merge\.(?:conflictstyle|ff)|rebase\.(?:autosquash|autostash|updaterefs)|rerere\.(?:enabled|autoupdate)|diff\.(?:algorithm|renames|colormoved|mnemonicprefix|noprefix)|log\.(?:date|decorate)|(?:branch|tag)\.sort)$/;

const listed = new Map<string, readonly [name: string, value: string | undefined][]>();

/** The user's git settings for a folder, with their secrets. Read once per process. */
export function userGitSettings(root: string): readonly [name: string, value: string | undefined][] {
  const key = `${process.env["HOME"]}\0${process.env["XDG_CONFIG_HOME"]}\0${root}`;
  // Empty where there is no git, or no settings.
  const settings = listed.get(key) ?? readSettings(["--global", "--includes"], repositoryOf(root)) ?? [];
  listed.set(key, settings);
  return settings;
}

/** The harmless part of the user's git settings for a folder, as the text of a settings file. */
export function harmlessGitSettings(root: string): string {
  return userGitSettings(root)
    .filter(([name]) => HARMLESS.test(name))
    .map(([name, value]) => {
      const [section, variable] = name.split(".");
      return `[${section}]\n\t${variable}${value === undefined ? "" : ` = ${quoted(value)}`}\n`;
    })
    .join("");
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

/**
 * The words that run a program with these git settings in place of the user's. The file is in `/dev/shm` of the
 * sandbox, as `/tmp` may be the project.
 */
export function withGitSettings(settings: string, words: readonly string[]): string[] {
  const script =
    'if [ -z "$GIT_CONFIG_GLOBAL" ]; then export GIT_CONFIG_GLOBAL=/dev/shm/.gitconfig; printf %s "$1" > "$GIT_CONFIG_GLOBAL"; fi; shift; exec "$@"';
  return settings === "" ? [...words] : ["/bin/sh", "-c", script, "sh", settings, ...words];
}
