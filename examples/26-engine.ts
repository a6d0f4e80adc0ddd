// The engine alone: pure functions, no LangChain, no clock. Every change is accepted whole or refused with reasons.
import { applyUpdate, applyWrite, EMPTY_PLAN, LEAN_POLICY, renderMermaid, renderStatus } from "holdfast/plan";

const first = applyWrite(
  EMPTY_PLAN,
  ["Read", { content: "Build", after: [1] }, { content: "Ship", after: [2] }],
  {
    ...LEAN_POLICY,
    maxItems: 10,
  },
);
if (!first.ok) throw new Error("refused");
console.log(renderStatus(first.plan.todos));

const tooEarly = applyUpdate(first.plan, { start: "3" }, LEAN_POLICY);
console.log(tooEarly.ok ? "accepted" : tooEarly.issues.map((issue) => issue.message).join("\n"));

const second = applyUpdate(first.plan, { done: 1, add: "Announce" }, LEAN_POLICY);
if (second.ok) {
  console.log(second.changes);
  console.log(renderMermaid(second.plan.todos));
}
