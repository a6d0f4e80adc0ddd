import { encode } from "gpt-tokenizer/encoding/o200k_base";
// What a plan costs before it does anything: tokens (o200k) of prompt and tool definitions in every request.
import { planMiddleware } from "holdfast";
import { PRESET_NAMES } from "holdfast/plan";
import { ScriptedModel } from "holdfast/testing";
import { createAgent, todoListMiddleware } from "langchain";

type Middleware = ReturnType<typeof planMiddleware>;

async function fixedTokens(middleware: Middleware): Promise<number> {
  const model = new ScriptedModel(["Hello."]);
  await createAgent({ model, middleware: [middleware] }).invoke({
    messages: [{ role: "user", content: "Hi" }],
  });
  const [request] = model.requests;
  return encode(request!.messages[0]!.text + JSON.stringify(request!.tools)).length;
}

const theirs = await fixedTokens(todoListMiddleware() as unknown as Middleware);
console.log(`langchain todoListMiddleware  ${theirs}  1.00`);
for (const preset of PRESET_NAMES) {
  const tokens = await fixedTokens(planMiddleware({ preset }));
  console.log(`holdfast ${preset.padEnd(20)}  ${tokens}  ${(tokens / theirs).toFixed(2)}`);
}
