/** Appended to the system prompt. It must not promise a sandbox where commands run as the user. */
export function sandboxPrompt(mount: string, { isolated }: { isolated: boolean }): string {
  const place = isolated
    ? "You work in a sandbox."
    : "Commands run on the user's machine with the user's rights: leave alone what is not yours.";
  return `## Files
${place} ${mount}/workspace is where commands start; ${mount}/uploads has what the user gave you; put what the user should get into ${mount}/outputs.`;
}
