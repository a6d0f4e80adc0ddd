/** The tool that stands for tools whose definitions would cost too much. `{servers}`: their names and numbers of tools. */
export const FIND_TOOLS_DESCRIPTION =
  "Find more tools by keywords; you can call the tools found from your next turn. There are tools of: {servers}.";

export const NOTHING_FOUND = "Nothing fits; try other words.";

export const NO_SUCH_TOOL = "There is no tool {name} now.";
