/** Fills in the `{names}` of a template. Names without a value stay. */
export function filled(template: string, values: Record<string, string | number>): string {
  return template.replaceAll(/\{(\w+)\}/g, (match, name: string) => String(values[name] ?? match));
}
