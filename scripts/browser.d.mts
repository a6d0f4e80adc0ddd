export const FLAGS: string[];
export function findBrowser(): string | undefined;
export function installBrowser(): void;
