import { readFileSync } from "node:fs";
import { StateSchema } from "@langchain/langgraph";
import { createMiddleware, type AnyAgentMiddleware } from "langchain";
import { parse } from "yaml";
import { z } from "zod";
import { attempt } from "../errors.ts";
import { nameOf } from "../files/paths/index.ts";
import { decodeText } from "../files/text/index.ts";
import { filesField } from "../middleware/files/index.ts";
import { frontmatterIn, skillsPrompt } from "../middleware/skills/index.ts";
import { lastValue } from "../middleware/state/index.ts";
import { filled, quotedText, withSection } from "../middleware/text/index.ts";
import { adaptBackendProtocol } from "./adapt.ts";
import { runtimeHere, stateHere, type AnyBackend } from "./backends.ts";
import { MEMORY } from "./deepagents.prompt.ts";
import type { BackendFactory } from "./options.ts";
import { withoutSlashes, type BackendProtocol } from "./protocol.ts";
import { SKILL, type Settings } from "./settings.ts";

/** A backend, and paths in it. */
interface BackendSources {
  backend: AnyBackend | BackendFactory;
  sources: readonly string[];
}

/** Options of `createMemoryMiddleware`: `sources` are files. */
export type MemoryMiddlewareOptions = BackendSources;
/** Options of `createSkillsMiddleware`: `sources` are folders of skills, or of one skill. */
export type SkillsMiddlewareOptions = BackendSources;

/**
 * Adds files of a backend to the system prompt. A thread reads them once, into `memoryContents`; the option `memory` of
 * `createDeepAgent` also notices later changes, and adds no graph step.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createMemoryMiddleware, FilesystemBackend } from "holdfast/deepagents";
 *
 * const backend = new FilesystemBackend({ rootDir: "./my-project" });
 * const middleware = [createMemoryMiddleware({ backend, sources: ["/AGENTS.md"] })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createMemoryMiddleware({ backend, sources }: MemoryMiddlewareOptions): AnyAgentMiddleware {
  return createMiddleware({
    name: "MemoryMiddleware",
    stateSchema: new StateSchema({
      files: filesField(),
      memoryContents: lastValue(z.record(z.string(), z.string()).optional()),
    }),
    beforeAgent: async (state) => {
      if (state.memoryContents !== undefined) return undefined;
      const files = opened(backend, state);
      const memoryContents: Record<string, string> = {};
      for (const path of sources) {
        const text = await textAt(files, path);
        if (text !== undefined) memoryContents[path] = text;
      }
      return { memoryContents };
    },
    wrapModelCall: (request, handler) => {
      const { memoryContents = {} } = request.state as { memoryContents?: Record<string, string> };
      const section = memorySection(Object.entries(memoryContents));
      return handler({ ...request, systemMessage: withSection(request.systemMessage, section) });
    },
  }) as AnyAgentMiddleware;
}

/** Options of `createAgentMemoryMiddleware`. */
export interface AgentMemoryMiddlewareOptions {
  settings: Settings;
  /** The name of the agent. */
  assistantId: string;
}

/**
 * Adds the `agent.md` of the user and of the project to the system prompt.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createAgentMemoryMiddleware, createSettings } from "holdfast/deepagents";
 *
 * const settings = createSettings();
 * const middleware = [createAgentMemoryMiddleware({ settings, assistantId: "my-agent" })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createAgentMemoryMiddleware({
  settings,
  assistantId,
}: AgentMemoryMiddlewareOptions): AnyAgentMiddleware {
  const paths = Object.entries({
    userMemory: settings.getUserAgentMdPath(assistantId),
    projectMemory: settings.getProjectAgentMdPath(),
  }).filter((entry): entry is [string, string] => entry[1] !== null);
  return createMiddleware({
    name: "AgentMemoryMiddleware",
    stateSchema: new StateSchema({ userMemory: TEXT, projectMemory: TEXT }),
    beforeAgent: (state) => {
      const known = state as object as TextFields;
      const texts = paths
        .filter(([field]) => known[field] === undefined)
        .map(([field, path]) => [field, attempt(() => readFileSync(path, "utf8"))] as const)
        .filter(([, text]) => text !== undefined);
      return texts.length > 0 ? Object.fromEntries(texts) : undefined;
    },
    wrapModelCall: (request, handler) => {
      const known = request.state as object as TextFields;
      const texts = paths.flatMap(([field, path]) =>
        known[field] === undefined ? [] : [[path, known[field]] as const],
      );
      return handler({ ...request, systemMessage: withSection(request.systemMessage, memorySection(texts)) });
    },
  }) as AnyAgentMiddleware;
}

type TextFields = Record<string, string | undefined>;

const TEXT = lastValue(z.string().optional());

function memorySection(texts: readonly (readonly [path: string, text: string])[]): string {
  if (texts.length === 0) return "";
  const files = texts.map(([path, text]) => quotedText("instructions", path, text));
  return [filled(MEMORY, { paths: texts.map(([path]) => path).join(", ") }), ...files].join("\n");
}

/** A skill in the field `skillsMetadata` of the state. */
interface SkillEntry {
  name: string;
  description: string;
  path: string;
}

/**
 * Lists skills of a backend in the system prompt. A thread reads them once, into `skillsMetadata`; the option `skills` of
 * `createDeepAgent` also understands `/name` in a message, and adds no graph step.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createSkillsMiddleware, FilesystemBackend } from "holdfast/deepagents";
 *
 * const backend = new FilesystemBackend({ rootDir: "./my-project" });
 * const middleware = [createSkillsMiddleware({ backend, sources: ["/skills/"] })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createSkillsMiddleware({ backend, sources }: SkillsMiddlewareOptions): AnyAgentMiddleware {
  return createMiddleware({
    name: "SkillsMiddleware",
    stateSchema: new StateSchema({
      files: filesField(),
      skillsMetadata: lastValue(z.array(z.custom<SkillEntry>()).optional()),
    }),
    beforeAgent: async (state: { skillsMetadata?: SkillEntry[] }) => {
      if ((state.skillsMetadata ?? []).length > 0) return undefined;
      const files = opened(backend, state);
      const skills = new Map<string, SkillEntry>();
      for (const source of sources) {
        for (const skill of await skillsAt(files, source)) skills.set(skill.name, skill);
      }
      return { skillsMetadata: [...skills.values()] };
    },
    wrapModelCall: (request, handler) => {
      const { skillsMetadata = [] } = request.state as { skillsMetadata?: SkillEntry[] };
      const skills = skillsMetadata.map((skill) => ({
        ...skill,
        at: skill.path.replace(/\/SKILL\.md$/, ""),
      }));
      return handler({
        ...request,
        systemMessage: withSection(request.systemMessage, skillsPrompt(skills)),
      });
    },
  }) as AnyAgentMiddleware;
}

async function skillsAt(files: BackendProtocol, source: string): Promise<SkillEntry[]> {
  const base = withoutSlashes(source.replaceAll("\\", "/"));
  const { files: entries = [] } = (await attempt(() => files.ls(`${base}/`))) ?? {};
  const names = entries.map(({ path }) => nameOf(withoutSlashes(path.replaceAll("\\", "/"))));
  const folders = names.includes("SKILL.md")
    ? [base]
    : entries.flatMap(({ is_dir: isFolder = false }, at) => (isFolder ? `${base}/${names[at]}` : []));
  const skills: SkillEntry[] = [];
  for (const folder of folders) {
    const path = `${folder}/SKILL.md`;
    const text = await textAt(files, path);
    const skill = text === undefined ? "" : frontmatterIn(text, SKILL, parse);
    if (typeof skill === "string") {
      if (skill !== "") process.emitWarning(`createSkillsMiddleware: ${path} ${skill}, and is left out.`);
      continue;
    }
    const { body: _, ...metadata } = skill;
    skills.push({ ...metadata, path });
  }
  return skills;
}

/** A backend in the second version of the protocol, for the current state. */
function opened(backend: AnyBackend | BackendFactory, state: object): BackendProtocol {
  const { store } = runtimeHere();
  const one = typeof backend === "function" ? backend({ state: stateHere() ?? state, store }) : backend;
  return adaptBackendProtocol(one);
}

/** More lines than a file has. */
const ALL = 1_000_000_000;

async function textAt(files: BackendProtocol, path: string): Promise<string | undefined> {
  if (files.downloadFiles) {
    const [file] = await files.downloadFiles([path]);
    const text = file?.content ? decodeText(file.content, path) : undefined;
    return text?.ok ? text.content : undefined;
  }
  const { content } = await files.read(path, 0, ALL);
  return typeof content === "string" ? content : undefined;
}
