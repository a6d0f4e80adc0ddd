/** Why a call is refused without asking anybody. The model reads it. */
export const CONSENT_REASONS = {
  denied: "the rule {rule} forbids it. Do not try it in another way.",
  planFirst:
    "nothing is changed before the user has approved a plan. Find out what you need by reading, then write the plan.",
  nobody:
    "it needs the user's consent, and nobody can be asked in this run. Do without it, or say what it is needed for.",
};
