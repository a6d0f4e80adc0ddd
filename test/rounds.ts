/** How often something random is tried: as often as it says where CI waits for it, a quarter of that where a person does. */
export function rounds(all: number): number {
  return process.env["CI"] ? all : Math.ceil(all / 4);
}
