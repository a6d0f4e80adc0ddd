/** Whether commands are isolated: where that works, always, or never. */
export const ISOLATIONS = ["auto", "always", "never"] as const;
/** When commands are isolated: where it works, always, or never. */
export type Isolation = (typeof ISOLATIONS)[number];
