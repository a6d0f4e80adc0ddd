// A plugin for the bundled command: writes the licenses of all packages in it beside it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Adds `fileName` with name, version and license text of every package that is in the bundle. */
export function licenses(fileName) {
  return {
    name: "licenses",
    generateBundle(_options, bundle) {
      const folders = new Set(
        Object.values(bundle)
          .flatMap(({ moduleIds = [] }) => moduleIds)
          .flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []),
      );
      const texts = [...folders].filter((folder) => existsSync(join(folder, "package.json"))).map(licenseOf);
      this.emitFile({ type: "asset", fileName, source: texts.toSorted().join(`\n${"-".repeat(80)}\n\n`) });
    },
  };
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `License: ${String(license)}`;
  return `${name} ${version}\n\n${text}\n`;
}
