/** The words of an item as they are compared: case, spaces and punctuation do not count. */
export function contentKey(content: string): string {
  return content
    .toLowerCase()
    .replaceAll(/[\s.,;:!]+/g, " ")
    .trim();
}
