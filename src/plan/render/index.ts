export { type MarkdownResult, type MarkdownTodo, parseMarkdown, renderMarkdown } from "./markdown.ts";
export { renderMermaid } from "./mermaid.ts";
export {
  itemWords,
  MARKS,
  renderChecklist,
  renderLines,
  renderRules,
  renderSnapshot,
  renderStatus,
} from "./render.ts";
export { escapedTags, foreign, opening } from "./foreign.ts";
