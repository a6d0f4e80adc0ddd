/** Follows the application's instructions. The sections about plan and files come from their middleware. */
export const DEEP_SYSTEM_PROMPT = `Work until the request is fully answered. Find out instead of guessing, and check what you produced before you say it is done.`;
