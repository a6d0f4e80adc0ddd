// Builds the documentation site: `npm run docs`; `npm run docs -- --serve` shows it on this machine.
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("..", import.meta.url));
const content = join(site, ".content");
const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const npm = (args, cwd) =>
  execFileSync("npm", args, { cwd, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });

execFileSync(process.execPath, ["scripts/install.mjs"], { cwd: root, stdio: ["ignore", 2, 2] });
if (modified(join(site, "node_modules/.package-lock.json")) < modified(join(site, "package-lock.json"))) {
  console.error("Installing what the site is built with (npm ci in site)");
  npm(["ci", "--no-audit", "--no-fund", "--ignore-scripts"], site);
}

rmSync(content, { recursive: true, force: true });
mkdirSync(join(content, "public"), { recursive: true });
cpSync(join(root, "docs"), content, { recursive: true });
const bin = (name) => join(site, "node_modules", name);
execFileSync(process.execPath, [bin("typedoc/bin/typedoc"), "--options", join(site, "typedoc.json")], {
  cwd: root,
  stdio: ["ignore", 2, 2],
});
copyFileSync(join(root, "CHANGELOG.md"), join(content, "changelog.md"));
copyFileSync(join(root, "CONTEXT.md"), join(content, "glossary.md"));
copyFileSync(join(root, "bench/RESULTS.md"), join(content, "figures.md"));
for (const name of readdirSync(join(root, "bench")).filter((file) => file.endsWith(".svg")))
  copyFileSync(join(root, "bench", name), join(content, name));
copyFileSync(join(root, "SECURITY.md"), join(content, "security.md"));
copyFileSync(join(site, "playground.md"), join(content, "playground.md"));
writeFileSync(join(content, "index.md"), home(readFileSync(join(root, "README.md"), "utf8")));
nameModules();
writeExamples();
writeDecisions();
for (const page of pagesIn(content)) writeFileSync(page, withLinks(readFileSync(page, "utf8"), page));
await bundlePlayground();

const command = process.argv.includes("--serve") ? "dev" : "build";
// It looks for Vue in the present directory.
const child = spawn(process.execPath, [bin("vitepress/bin/vitepress.js"), command], {
  cwd: site,
  stdio: "inherit",
});
child.on("exit", (code) => (process.exitCode = code ?? 1));

function pagesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** The README is the first page; its pictures and pages lie beside it here. */
function home(readme) {
  return readme
    .replaceAll("](docs/", "](")
    .replaceAll('"docs/', '"./')
    .replaceAll(/\]\((examples|decisions)\)/g, "]($1/index.md)");
}

/** Calls modules of the reference by the names that programs import them by. */
function nameModules() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const names = Object.entries(exports).flatMap(([name, { default: file = "" }]) => {
    // `dist/plan/index.js` is the module `plan`, `dist/exports/mcp.js` is `exports/mcp`.
    const folder = file.replace("./dist/", "").replace(/(?:(?<=.)\/index)?\.js$/, "");
    return file ? [[folder, posix.join("holdfast", name)]] : [];
  });
  const list = join(content, "reference/index.md");
  let text = readFileSync(list, "utf8");
  for (const [folder, name] of names) {
    text = text.replace(`[${folder}]`, `[${name}]`);
    const page = join(content, "reference", folder, "index.md");
    writeFileSync(page, readFileSync(page, "utf8").replace(/^# .*/, `# ${name}`));
  }
  writeFileSync(list, text);
}

/** Every example is a page, by its first comment; the list of them is their README. */
function writeExamples() {
  const folder = join(content, "examples");
  mkdirSync(folder);
  for (const name of readdirSync(join(root, "examples")).filter((one) => one.endsWith(".ts"))) {
    const code = readFileSync(join(root, "examples", name), "utf8");
    const [, about = ""] = /^\/\/ (.*)/m.exec(code) ?? [];
    const number = name.slice(0, 2);
    const body = `# ${about.replace(/[.:].*/, "")}\n\n${about}\n\n\`npm run example ${number}\` runs it.\n\n\`\`\`ts\n${code}\`\`\`\n`;
    writeFileSync(join(folder, name.replace(/\.ts$/, ".md")), body);
  }
  const list = readFileSync(join(root, "examples/README.md"), "utf8");
  writeFileSync(join(folder, "index.md"), list.replaceAll(/\]\(([\w-]+)\.ts\)/g, "]($1.md)"));
}

function writeDecisions() {
  const folder = join(content, "decisions");
  const rows = readdirSync(folder).map((name) => {
    const [, title = name] = /^# (.*)/m.exec(readFileSync(join(folder, name), "utf8")) ?? [];
    return `- [${title}](${name})`;
  });
  writeFileSync(join(folder, "index.md"), `# Decisions\n\n${rows.join("\n")}\n`);
}

/** Points links to files that have a page here to it; others become the name of the file. */
function withLinks(text, page) {
  const moved = new Map([
    ["CHANGELOG.md", "changelog.md"],
    ["CONTEXT.md", "glossary.md"],
    ["SECURITY.md", "security.md"],
    ["bench/RESULTS.md", "figures.md"],
    ["README.md", "index.md"],
    ["examples", "examples/index.md"],
  ]);
  const at = posix.relative(content.replaceAll("\\", "/"), page.replaceAll("\\", "/"));
  const isGenerated = at.startsWith("reference/");
  return text.replaceAll(
    /(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)/g,
    (whole, words, target, hash = "") => {
      if (isGenerated || /^[a-z]+:/.test(target)) return whole;
      // Pages of docs/ name other files from there; the rest names them from the root.
      const here =
        target.startsWith("..") || at.startsWith("decisions/")
          ? posix.join("docs", dirname(at))
          : dirname(at);
      const path = posix.normalize(posix.join(here, target)).replace(/^docs\//, "");
      const to = moved.get(path) ?? path.replace(/^(examples\/[\w-]+)\.ts$/, "$1.md");
      const file = join(content, to);
      if (!existsSync(file) || statSync(file).isDirectory())
        return words.startsWith("`") ? words : `${words} (\`${path}\`)`;
      const link = posix.relative(dirname(at), to);
      return `[${words}](${link.startsWith(".") ? link : `./${link}`}${hash})`;
    },
  );
}

/** The planning core, LangChain's agent and a scripted model, for the browser. */
async function bundlePlayground() {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(site, "playground.ts")],
    outfile: join(content, "public/playground.js"),
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
    absWorkingDir: root,
    logLevel: "warning",
  });
}
