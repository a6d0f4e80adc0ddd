import type { FileToolChoice } from "../middleware/files/options.ts";
import { READER_DESCRIPTION, READER_PROMPT } from "../subagents/task.prompt.ts";
import type { DeepAgentOptions, SubagentSpec } from "./options.ts";

const READING = ["ls", "read_file", "glob", "grep"];

/**
 * The built-in sub-agent `reader`: it reads files and the web, and has no plan, commands, writes, MCP servers or
 * sub-agents. Undefined where its caller has nothing to read with.
 */
export function readerOf({
  fileTools = READING as FileToolChoice[],
}: DeepAgentOptions): SubagentSpec | undefined {
  const nameOf = (tool: FileToolChoice): string => (typeof tool === "string" ? tool : tool.name);
  const own = fileTools.filter((tool) => READING.includes(nameOf(tool)));
  if (own.length === 0) return undefined;
  return {
    name: "reader",
    description: READER_DESCRIPTION,
    systemPrompt: READER_PROMPT,
    tools: [],
    fileTools: own,
    web: true,
    plan: false,
    instructions: [],
    skills: [],
    subagents: false,
  };
}
