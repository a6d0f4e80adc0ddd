export { AnswerView } from "./answer-view.ts";
export { argumentLines, callText, changeLines, wholeCall } from "./call-lines.ts";
export { echoOf, typedFor } from "./echo.ts";
export { linesOf, planLines, questionLines, ruleLines } from "./lines.ts";
export { markdownRows } from "./markdown.ts";
