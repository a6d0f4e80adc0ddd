// The TodoWrite lesson in a hand-written loop: a strict manager, a rendered checklist, and a nag.
import { TodoManager } from "holdfast/plan";

const manager = new TodoManager();
console.log(
  manager.update([
    { text: "Read the project structure", status: "completed" },
    { text: "Analyze the dependencies", status: "in_progress" },
    { text: "Write the report", status: "pending" },
  ]),
);

try {
  manager.update([
    { text: "one", status: "in_progress" },
    { text: "two", status: "in_progress" },
  ]);
} catch (error) {
  console.log(`\nRefused: ${(error as Error).message}`);
}

for (let round = 1; round <= 3; round++) console.log(`round ${round}:`, manager.endRound(false) ?? "-");
