/** Appended to the system prompt. */
export function sandboxPrompt(mount: string): string {
  return `## Files
You work in a sandbox. ${mount}/workspace is where commands start; ${mount}/uploads has what the user gave you; put what the user should get into ${mount}/outputs. Read a file before you edit it.`;
}
