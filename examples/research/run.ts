// Researches a question and writes the report: npx tsx examples/research/run.ts "question" [--out DIR]
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run example research -- "question" [--out DIR]

Researches the question and writes final_report.md to DIR (default: the current directory).

  --out DIR   where to write the report
  --help      show this text

The model comes from the environment (HOLDFAST_MODEL=provider:model, or a provider's API key); without one, a
deterministic offline model plays its part. TAVILY_API_KEY turns on the web search; without it, the documents
beside this example are searched.`;

const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort());
process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if ("error" in options) return fail(`${options.error} Try --help.`, 2);
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  try {
    // LangChain takes a while to load: usage does not wait for it.
    const { research } = await import("./research.ts");
    const path = await research({ ...options, signal: interrupt.signal });
    console.log(`\nReport: ${path}`);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return fail("Interrupted. No report was written.", 130);
    return fail(error instanceof Error ? error.message : String(error), 1);
  }
}

function readOptions(args: string[]): { help: boolean; question: string; out: string } | { error: string } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: "string", default: "." },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const question = positionals.join(" ").trim();
    if (question === "" && !values.help) return { error: "There is no question." };
    return { help: values.help, question, out: values.out };
  } catch (error) {
    return { error: `${(error as Error).message.split(/\.\s/)[0]}.` };
  }
}

function fail(message: string, code: number): number {
  console.error(message.replaceAll(/\s+/g, " "));
  return code;
}
