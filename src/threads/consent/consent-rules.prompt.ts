/** Why a call is refused without asking anybody. The model reads it. */
export const CONSENT_REASONS = {
  denied: "the rule {rule} forbids it. Do not try it in another way.",
  unclear:
    "the rule {rule} forbids it, because the line may do what the rule is about. With such a rule a line runs only if it consists of plain commands of well-known programs with literal words, joined by && || ; or |: for example `git status && npm test`. It may have no variable, substitution, redirection to a file, cd, shell, interpreter, script or unusual option. Write files with the file tools. If the line does what the rule forbids, do not try it in another way.",
  planFirst:
    "nothing is changed before the user has approved a plan. Find out what you need by reading, then write the plan.",
  nobody: "it needs the user's consent, and this run cannot ask. Do without it, or say what you need it for.",
};
