import { type Status } from "../../vocabulary.ts";
import type { Todo } from "../todo/index.ts";
import { itemWords } from "./render.ts";

const STYLES: Readonly<Record<Status, string>> = {
  pending: "fill:#f6f8fa,stroke:#8c959f,color:#24292f",
  in_progress: "fill:#ddf4ff,stroke:#0969da,color:#24292f",
  completed: "fill:#dafbe1,stroke:#1a7f37,color:#24292f",
  blocked: "fill:#ffebe9,stroke:#cf222e,color:#24292f",
  cancelled: "fill:#eaeef2,stroke:#afb8c1,color:#6e7781,stroke-dasharray:4",
};

/**
 * The plan as a Mermaid graph. An arrow leads from an item to one that depends on it.
 *
 * @example
 * ```ts
 * import { renderMermaid, type Todo } from "holdfast/plan";
 *
 * const build: Todo = { id: "1", content: "Build", status: "completed" };
 * const test: Todo = { id: "2", content: "Test", status: "pending", dependsOn: ["1"] };
 * console.log(renderMermaid([build, test])); // "graph TD …"
 * ```
 */
export function renderMermaid(todos: readonly Todo[]): string {
  const node = new Map(todos.map((todo, index) => [todo.id, `t${index + 1}`]));
  const used = new Set(todos.map((todo) => todo.status));
  return [
    "graph TD",
    ...todos.map((todo) => `  ${node.get(todo.id)}["${label(todo)}"]:::${todo.status}`),
    ...todos.flatMap((todo) =>
      (todo.dependsOn ?? []).flatMap((id) =>
        node.has(id) ? `  ${node.get(id)} --> ${node.get(todo.id)}` : [],
      ),
    ),
    ...(Object.keys(STYLES) as Status[])
      .filter((status) => used.has(status))
      .map((status) => `  classDef ${status} ${STYLES[status]}`),
  ].join("\n");
}

/** The label of an item. Characters that could end or format it are written as Mermaid entities, such as `#34;`. */
function label(todo: Todo): string {
  return `${todo.id}: ${itemWords(todo)}`.replaceAll(
    /[^\p{L}\p{N} .,:_/-]/gu,
    (sign) => `#${sign.codePointAt(0)};`,
  );
}
