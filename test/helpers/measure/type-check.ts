import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { run } from "../terminal/run-program.ts";

/** Code in a document or a comment; `line` is the line in front of it. */
export interface CodeBlock {
  line: number;
  code: string;
}

/** An error in a block, given by its place in the list, at a line of the document. */
export interface CompilerError {
  block: number;
  line: number;
  message: string;
}

/** Type-checks each block as a module against the built package. */
export async function typeCheck(blocks: readonly CodeBlock[]): Promise<CompilerError[]> {
  // Inside the repository, so that the package's name resolves to itself.
  const folder = mkdtempSync(".tmp-blocks-");
  try {
    const files = blocks.map((_, index) => `${index}.ts`);
    for (const [index, { line, code }] of blocks.entries()) {
      // Blank lines before the code make the compiler count lines as the document does.
      writeFileSync(`${folder}/${index}.ts`, "\n".repeat(line) + code);
    }
    const config = { extends: "../tsconfig.json", compilerOptions: { paths: {} }, include: [], files };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config));

    const { ok, stdout } = await run("node_modules/.bin/tsc", ["-p", folder, "--pretty", "false"]);
    const errors = [...stdout.matchAll(/\/(\d+)\.ts\((\d+),\d+\): (.*(?:\n .*)*)/g)].map(
      ([, block, line, message = ""]) => ({ block: Number(block), line: Number(line), message }),
    );
    if (!ok && errors.length === 0) throw new Error(stdout);
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
