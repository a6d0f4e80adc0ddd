/** Whether commands are isolated: where that works, always, or never. */
export const ISOLATIONS = ["auto", "always", "never"] as const;
export type Isolation = (typeof ISOLATIONS)[number];
