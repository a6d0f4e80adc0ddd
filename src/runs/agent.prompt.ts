/** Tells an agent that can run commands where they run. The day and not the hour: the prompt cache holds for the day. */
export function commandsPrompt(
  dir: string,
  { isolated, network }: { isolated: boolean; network: boolean },
  now = new Date(),
): string {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const limits = isolated
    ? ` They can write only there and to /tmp${network ? "" : ", and have no network"}.`
    : "";
  return `Commands run in ${dir}, which is / for the file tools.${limits} System: ${process.platform}. Date: ${day}.`;
}
