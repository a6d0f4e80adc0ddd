import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { isRelease } from "../../test/helpers/runner/rounds.ts";
import { HarnessError } from "../errors.ts";
import { ScriptedModel } from "../testing/index.ts";
import { describeModels } from "./describe.ts";
import { chooseModel, knownModel, type ChooseModelOptions } from "./index.ts";

const KEYS = { ANTHROPIC_API_KEY: "sk-ant-secret-1", OPENAI_API_KEY: "sk-secret-2" };

const chosen = async (options: ChooseModelOptions): Promise<string> => {
  const { name, source } = await chooseModel(options);
  return `${name} from ${source}`;
};

const refusal = async (options: ChooseModelOptions): Promise<[code: string, message: string]> => {
  const error = await chooseModel(options).catch((reason: unknown) => reason);
  if (!(error instanceof HarnessError)) throw new Error("expected a HarnessError", { cause: error });
  return [error.code, error.message];
};

describe("the order of choice", () => {
  it("puts a passed model before everything else, and returns the model unchanged", async () => {
    const model = new ScriptedModel(["hi"]);
    const found = await chooseModel({ model, env: { HOLDFAST_MODEL: "openai:gpt-5", ...KEYS } });
    expect(found.model).toBe(model);
    expect(found.source).toBe("option");
  });

  it("returns the program that plays the demo where it is named, without a key", async () => {
    expect(await chosen({ model: "demo", env: KEYS })).toBe("demo from option");
    const { model, name, source } = await chooseModel({ env: { HOLDFAST_MODEL: "demo" } });
    expect([name, source]).toEqual(["demo", "HOLDFAST_MODEL"]);
    expect((await model.invoke("Hello")).text).toContain("scratch project");
  });

  it("names a passed model after its provider", async () => {
    const { model } = await chooseModel({ model: "ollama:qwen3:8b", env: {} });
    expect(await chosen({ model })).toBe("ollama:qwen3:8b from option");
  });

  it.each([
    ["a name that is passed", { HOLDFAST_MODEL: "openai:gpt-5" }, "groq:x", "groq:x from option"],
    ["HOLDFAST_MODEL", { HOLDFAST_MODEL: "openai:gpt-5" }, undefined, "openai:gpt-5 from HOLDFAST_MODEL"],
    [
      "DeepAgents' variables",
      { DEEPAGENTS_MODEL_PROVIDER: "lm-studio", LM_STUDIO_MODEL_NAME: "qwen", OLLAMA_MODEL_NAME: "other" },
      undefined,
      "lm-studio:qwen from DEEPAGENTS_MODEL_PROVIDER",
    ],
    [
      "the name of a local model, Ollama's first",
      { LM_STUDIO_MODEL_NAME: "qwen", OLLAMA_MODEL_NAME: "qwen3:8b" },
      undefined,
      "ollama:qwen3:8b from OLLAMA_MODEL_NAME",
    ],
    ["the first key", {}, undefined, "anthropic:claude-sonnet-5 from ANTHROPIC_API_KEY"],
  ])("takes %s", async (_, env, model, expected) => {
    const keys = { ...KEYS, GROQ_API_KEY: "gsk_secret_3" };
    expect(await chosen({ env: { ...keys, ...env }, model: model || undefined })).toBe(expected);
  });

  it.each([
    ["OPENAI_API_KEY", "openai:gpt-5.1"],
    ["GOOGLE_API_KEY", "google-genai:gemini-flash-latest"],
    ["GEMINI_API_KEY", "google-genai:gemini-flash-latest"],
    ["MISTRAL_API_KEY", "mistralai:mistral-large-latest"],
    ["GROQ_API_KEY", "groq:openai/gpt-oss-120b"],
    ["DEEPSEEK_API_KEY", "deepseek:deepseek-chat"],
  ])("finds a provider by %s", async (variable, name) => {
    expect(await chosen({ env: { [variable]: "secret-key" } })).toBe(`${name} from ${variable}`);
  });

  it("treats an empty variable as not set", async () => {
    const env = { HOLDFAST_MODEL: " ", OLLAMA_MODEL_NAME: "", OPENAI_API_KEY: "sk-secret-2" };
    expect(await chosen({ env })).toBe("openai:gpt-5.1 from OPENAI_API_KEY");
  });

  it("says which variables can be set when none is", async () => {
    const [code, message] = await refusal({ env: {} });
    expect(code).toBe("no-model");
    expect(message).toMatch(
      /^No model is configured\. Set HOLDFAST_MODEL to provider:model, .* one of OLLAMA_/,
    );
    expect(message).toContain("ANTHROPIC_API_KEY, OPENAI_API_KEY");
  });
});

describe("a model name", () => {
  it.each([
    ["gpt-5", "openai:gpt-5"],
    ["o3-mini", "openai:o3-mini"],
    ["claude-opus-5", "anthropic:claude-opus-5"],
    ["openai", "openai:gpt-5.1"],
    ["OpenAI:gpt-5", "openai:gpt-5"],
    ["lm_studio:openai/gpt-oss-20b", "lm-studio:openai/gpt-oss-20b"],
    ["ollama:hf.co/unsloth/x:Q4_K_M", "ollama:hf.co/unsloth/x:Q4_K_M"],
  ])("%s means %s", async (model, name) => {
    expect((await chooseModel({ model, env: KEYS })).name).toBe(name);
  });

  it.each([
    [
      "without a provider that can be inferred",
      "qwen3",
      /"qwen3" has no provider; .* such as openai:qwen3\./,
    ],
    [
      "of Ollama without its provider",
      "gpt-oss:20b",
      /no provider "gpt-oss" .* such as ollama:gpt-oss:20b\./,
    ],
  ])("%s is refused with the valid form and the providers", async (_, model, expected) => {
    const [code, message] = await refusal({ model, env: KEYS });
    expect(code).toBe("invalid-model");
    expect(message).toMatch(expected);
    expect(message).toContain("anthropic, openai, google-genai, mistralai, groq");
  });

  it("is asked for when a local provider has none", async () => {
    expect(await refusal({ env: { DEEPAGENTS_MODEL_PROVIDER: "ollama" } })).toEqual([
      "missing-setting",
      "ollama needs a model name: set OLLAMA_MODEL_NAME, or write ollama:name.",
    ]);
  });
});

describe("the address and the key", () => {
  it.each([
    ["ollama:m", {}, "http://127.0.0.1:11434"],
    ["ollama:m", { OLLAMA_HOST: "0.0.0.0" }, "http://127.0.0.1:11434"],
    ["ollama:m", { OLLAMA_HOST: ":8080" }, "http://127.0.0.1:8080"],
    ["ollama:m", { OLLAMA_HOST: "box.lan" }, "http://box.lan:11434"],
    ["ollama:m", { OLLAMA_HOST: "box", OLLAMA_BASE_URL: "https://box.lan/" }, "https://box.lan"],
    ["lm-studio:m", {}, "http://localhost:1234/v1"],
    ["lm-studio:m", { LM_STUDIO_BASE_URL: "box.lan" }, "http://box.lan:1234/v1"],
    ["lm-studio:m", { LM_STUDIO_BASE_URL: "http://box.lan:99/api" }, "http://box.lan:99/api"],
    ["openai-compatible:m", { HOLDFAST_BASE_URL: "http://box:1/v1" }, "http://box:1/v1"],
    ["openai-compatible:m", { OPENAI_BASE_URL: "http://box:2/v1" }, "http://box:2/v1"],
  ])("for %s with %o is %s", async (model, env, baseUrl) => {
    expect((await chooseModel({ model, env })).baseUrl).toBe(baseUrl);
  });

  it.each([
    ["openai:gpt-5", {}, "openai:gpt-5 needs an API key: set OPENAI_API_KEY."],
    ["gemini-3", {}, "google-genai:gemini-3 needs an API key: set GOOGLE_API_KEY or GEMINI_API_KEY."],
    [
      "openai-compatible:m",
      {},
      "openai-compatible:m needs an address: set HOLDFAST_BASE_URL, such as http://localhost:8000/v1.",
    ],
    [
      "ollama:m",
      { OLLAMA_BASE_URL: "http://" },
      "OLLAMA_BASE_URL is not a URL; write it like http://127.0.0.1:11434.",
    ],
  ])("are required for %s with %o", async (model, env, message) => {
    expect((await refusal({ model, env }))[1]).toBe(message);
  });

  it("keeps OpenAI's key from other servers", async () => {
    const keyOf = async (options: ChooseModelOptions): Promise<unknown> =>
      ((await chooseModel(options)).model as unknown as { apiKey: unknown }).apiKey;
    const model = "openai-compatible:m";
    const settings = { baseUrl: "http://box:1/v1" };
    expect(await keyOf({ model, env: KEYS, settings })).toBe("none");
    expect(await keyOf({ model, env: { ...KEYS, HOLDFAST_BASE_URL: "http://box:1/v1" } })).toBe("none");
    expect(await keyOf({ model, env: { ...KEYS, OPENAI_BASE_URL: "http://box:2/v1" } })).toBe("sk-secret-2");
    expect(await keyOf({ model: "lm-studio:m", env: KEYS })).toBe("none");
  });

  it("hands the settings on to the client", async () => {
    const settings = { temperature: 0, maxTokens: 99 };
    for (const model of ["openai:m", "anthropic:m", "deepseek:m", "mistralai:m", "groq:m"]) {
      const env = { ...KEYS, DEEPSEEK_API_KEY: "key", MISTRAL_API_KEY: "key", GROQ_API_KEY: "key" };
      expect((await chooseModel({ model, env, settings })).model).toMatchObject({ model: "m", ...settings });
    }
    const ollama = await chooseModel({ model: "ollama:m", env: {}, settings });
    expect(ollama.model).toMatchObject({ temperature: 0, numPredict: 99 });
    const google = await chooseModel({ model: "gemini-3", env: { GOOGLE_API_KEY: "key" }, settings });
    expect(google.model).toMatchObject({ temperature: 0, maxOutputTokens: 99 });
  });
});

describe("the report", () => {
  it("shows what is installed and set, and no values", () => {
    const env = { ...KEYS, OPENAI_BASE_URL: "https://me:word@proxy.test/v1", OLLAMA_HOST: "box" };
    const report = describeModels(env);
    expect(report.find(({ provider }) => provider === "openai")).toEqual({
      provider: "openai",
      package: "@langchain/openai",
      installed: true,
      install: "npm install @langchain/openai@1.5.8",
      variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
      baseUrl: "https://proxy.test/v1",
    });
    expect(report.find(({ provider }) => provider === "ollama")?.baseUrl).toBe("http://box:11434");
    expect(JSON.stringify(report)).not.toMatch(/secret|word/);
  });

  it("survives an address that is not a URL", () => {
    const report = describeModels({ OLLAMA_HOST: "http://" });
    expect(report.find(({ provider }) => provider === "ollama")).not.toHaveProperty("baseUrl");
  });
});

describe("when the provider packages are missing,", () => {
  it.runIf(isRelease)("the error names the package and the command that installs it", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-models-"));
    try {
      cpSync("src/models", join(folder, "models"), { recursive: true });
      cpSync("src/errors.ts", join(folder, "errors.ts"));
      writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
      mkdirSync(join(folder, "node_modules/@langchain"), { recursive: true });
      for (const name of ["core", "langgraph"])
        symlinkSync(resolve("node_modules/@langchain", name), join(folder, "node_modules/@langchain", name));
      writeFileSync(
        join(folder, "main.ts"),
        `import { chooseModel } from "./models/choose.ts";
         import { describeModels } from "./models/describe.ts";
         const messages = [];
         for (const model of ["openai:m", "anthropic:m", "ollama:m", "mistralai:m"]) {
           const settings = { apiKey: "key" };
           await chooseModel({ model, env: {}, settings }).catch((e) => messages.push(e.code + ": " + e.message));
         }
         const installed = describeModels({}).filter((report) => report.installed).length;
         console.log(JSON.stringify({ messages, installed }));`,
      );
      const tsx = import.meta.resolve("tsx");
      const output = execFileSync(process.execPath, ["--import", tsx, "main.ts"], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(JSON.parse(output)).toEqual({
        messages: [
          "missing-package: openai needs the package @langchain/openai. Install it with: npm install @langchain/openai@1.5.8",
          "missing-package: anthropic needs the package @langchain/anthropic. Install it with: npm install @langchain/anthropic",
          "missing-package: ollama needs the package @langchain/ollama. Install it with: npm install @langchain/ollama",
          "missing-package: mistralai needs the package @langchain/mistralai. Install it with: npm install @langchain/mistralai",
        ],
        installed: 0,
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it.each([
  ["opnai:gpt-5", "openai:gpt-5"],
  ["antropic:claude-sonnet-5", "anthropic:claude-sonnet-5"],
  ["google:gemini-2.5-pro", "google-genai:gemini-2.5-pro"],
  ["mistral:mistral-large-latest", "mistralai:mistral-large-latest"],
  ["open-router:qwen/qwen3", "openrouter:qwen/qwen3"],
  ["azure_openai:gpt-5", "azure:gpt-5"],
])("an unknown provider gets the nearest name as a suggestion: %s", async (model, meant) => {
  const [, message] = await refusal({ model, env: KEYS });
  expect(message).toContain(`do you mean ${meant}?`);
});

describe("providers of OpenAI's protocol", () => {
  it.each([
    ["xai:grok-4.6", { XAI_API_KEY: "k" }, "https://api.x.ai/v1"],
    ["grok-4", { XAI_API_KEY: "k" }, "https://api.x.ai/v1"],
    ["openrouter", { OPENROUTER_API_KEY: "k" }, "https://openrouter.ai/api/v1"],
    ["together:deepseek-ai/DeepSeek-V3", { TOGETHER_API_KEY: "k" }, "https://api.together.xyz/v1"],
    [
      "fireworks:accounts/fireworks/models/x",
      { FIREWORKS_API_KEY: "k" },
      "https://api.fireworks.ai/inference/v1",
    ],
    [
      "azure:my-deployment",
      { AZURE_OPENAI_API_KEY: "k", AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com/" },
      "https://me.openai.azure.com/openai/v1",
    ],
  ])("%s", async (model, env, baseUrl) => {
    expect((await chooseModel({ model, env })).baseUrl).toBe(baseUrl);
  });

  it("need a key, and Azure an address", async () => {
    expect((await refusal({ model: "xai", env: {} }))[1]).toContain("XAI_API_KEY");
    expect((await refusal({ model: "azure:d", env: {} }))[1]).toContain("AZURE_OPENAI_ENDPOINT");
  });
});

describe("known models", () => {
  it("have prices and a window, by their names with and without a date", () => {
    const known = knownModel("openai:gpt-5.1");
    expect(known).toMatchObject({ prices: { input: expect.any(Number) }, window: expect.any(Number) });
    expect(knownModel("openai:gpt-5.1-2025-11-13")).toEqual(known);
    expect(knownModel("azure:gpt-5.1")).toEqual(known);
    expect(knownModel("openai:gpt-0")).toBeUndefined();
    expect(knownModel("openai:constructor")).toBeUndefined();
  });

  it("tell a client their window where it does not know it", async () => {
    const { model } = await chooseModel({ model: "xai:grok-4.6", env: { XAI_API_KEY: "k" } });
    expect(model.profile.maxInputTokens).toBe(knownModel("xai:grok-4.6")!.window);
  });
});
