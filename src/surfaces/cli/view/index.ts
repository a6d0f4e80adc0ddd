export { AnswerView } from "./answer-view.ts";
export { argumentLines, callText, changeLines, wholeCall } from "./call-lines.ts";
export { echoOf, linesOf, planLines, questionLines, ruleLines, typedFor } from "./lines.ts";
export { markdownRows } from "./markdown.ts";
