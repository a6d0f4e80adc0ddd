/** The warning to a model before a budget is used up. */
export const BUDGET_WARNING =
  "<system_reminder>{share} of what {whose} may spend ({most}) is gone; it is stopped at the limit. Finish what matters most now, and say what is left.</system_reminder>";
