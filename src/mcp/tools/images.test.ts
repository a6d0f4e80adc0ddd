import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { startModelServer } from "../../../test/helpers/models/model-server.ts";
import { chooseModel } from "../../models/index.ts";
import { Secrets } from "../connection/secrets.ts";
import { withImagesBehind } from "../middleware.ts";
import { resultMessage } from "./tool.ts";

const PNG = "iVBORw0KGgo=";
const image = (data = PNG, mimeType = "image/png") => ({ type: "image" as const, data, mimeType });
const result = (...content: Parameters<typeof resultMessage>[0]["content"]) =>
  resultMessage(
    { content },
    { server: "s", name: "mcp__s__t", id: "c1", secrets: new Secrets({ command: "x" }) },
  );

describe("an image in a result", () => {
  it("reaches models of OpenAI and Anthropic in a user message after the results", async () => {
    const server = await startModelServer();
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", HOLDFAST_API_KEY: "k" };
    const url = `data:image/png;base64,${PNG}`;
    const call = { type: "tool_call" as const, args: {} };
    const messages = withImagesBehind([
      new HumanMessage("look"),
      new AIMessage({
        content: "",
        tool_calls: [
          { ...call, name: "mcp__s__t", id: "c1" },
          { ...call, name: "other", id: "c2" },
        ],
      }),
      result({ type: "text", text: "a cat" }, image()),
      new ToolMessage({ content: "fine", tool_call_id: "c2", name: "other" }),
    ]);
    const ask = async (model: string, variable: string, path = ""): Promise<string> => {
      const chosen = await chooseModel({ model, env: { ...env, [variable]: server.url + path } });
      await chosen.model.invoke(messages);
      return JSON.stringify(server.requests.at(-1)!.body);
    };
    const openai = JSON.parse(await ask("openai-compatible:m", "HOLDFAST_BASE_URL", "/v1")) as {
      messages: { role: string; content: unknown }[];
    };
    expect(openai.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
    expect(JSON.stringify(openai.messages[2])).not.toContain(PNG);
    expect(openai.messages[4]!.content).toContainEqual({ type: "image_url", image_url: { url } });
    const anthropic = JSON.parse(await ask("anthropic:claude-sonnet-5", "ANTHROPIC_BASE_URL")) as {
      messages: { content: { type: string; source?: unknown }[] }[];
    };
    const source = { type: "base64", media_type: "image/png", data: PNG };
    expect(anthropic.messages.at(-1)!.content).toContainEqual({ type: "image", source });
    server.stop();
  });

  it("is only named when it is too large, of an unsupported kind, or over the maximum", () => {
    expect(result(image("x".repeat(2_000_001)), image(PNG, "image/tiff")).text).toBe(
      '<external_data source="MCP server s">\n[image/png of 1501 kB is not shown.]\n[image/tiff of 1 kB is not shown.]\n</external_data>',
    );
    const many = result(...Array.from({ length: 10 }, () => image()));
    expect((many.content as unknown[]).length).toBe(9);
    expect(many.text).toContain("2 more images are not shown.");
  });

  it("changes nothing in a list without any", () => {
    const messages = [new HumanMessage("a"), result({ type: "text", text: "b" })];
    expect(withImagesBehind(messages)).toBe(messages);
  });
});
