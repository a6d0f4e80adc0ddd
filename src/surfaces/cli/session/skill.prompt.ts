/** What `/name words` of a skill says to the model. */
export function skillTask(name: string, words: string): string {
  return words ? `Use the skill ${name}: ${words}` : `Use the skill ${name}.`;
}
