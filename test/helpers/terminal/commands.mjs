// Runs the built commands that its argument lists, one after another, and writes behind each how it ended.
import { cli } from "../../../dist/surfaces/cli/cli.js";

const { stdin, stdout, stderr } = process;
const cwd = process.cwd();

for (const { args, env } of JSON.parse(process.argv[2])) {
  const code = await cli(args, { stdin, stdout, stderr, env: { ...process.env, ...env }, cwd });
  for (const stream of stderr.isTTY ? [stdout] : [stdout, stderr])
    await new Promise((resolve) => stream.write(`[ended with ${code}]\n`, resolve));
}
process.exit();
