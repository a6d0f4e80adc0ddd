/** Whether the user asks for a survey. */
export function asksForSurvey(request: string): boolean {
  return /\bsurvey(?:s|ing)?\b/i.test(request);
}

const VERB = String.raw`\bsurvey(?:s|ing)?\b`;
const LEAD_IN = String.raw`${VERB}(?:\s+(?:of|the|this|my|in|at))*(?:\s+(?:folder|directory))?:?\s+`;
const QUOTED = new RegExp(`${LEAD_IN}["'\`“‘]([^"'\`“”‘’\n]+)["'\`”’]`, "i");
const WITH_SLASH = new RegExp(String.raw`${LEAD_IN}((?:\.|[^\s/]*/)\S*)`, "i");
const CALLED = /\b(?:the|a) (?:folder|directory) (?:called |named )?([\w.-]+?)[.!?]*$/i;
const IN_FRONT = new RegExp(String.raw`${VERB}(?:\s+of)?\s+the\s+([\w.-]+)\s+(?:folder|directory)\b`, "i");
/** What may stand in a folder's place without being one. */
const COMMON =
  /^(?:again|and|current|entire|following|given|here|now|please|project|root|source|top|whole|working)$/i;

/** How much of a request is searched for a folder. */
const READ = 2000;

/** The folder that a request names, as a path; the root when it names none. */
export function folderIn(text: string): string {
  const request = text.slice(0, READ);
  const spelled = QUOTED.exec(request)?.[1] ?? WITH_SLASH.exec(request)?.[1]?.replace(/[.,;:!?)]+$/, "");
  const word = (CALLED.exec(request) ?? IN_FRONT.exec(request))?.[1] ?? "";
  const named = spelled ?? (COMMON.test(word) ? "" : word);
  return `/${named
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}
