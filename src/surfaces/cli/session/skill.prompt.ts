/** The task for the model when a person types `/name words` of a skill. */
export function skillTask(name: string, words: string): string {
  return words ? `Use the skill ${name}: ${words}` : `Use the skill ${name}.`;
}
