/** Whether this is the release run (`npm run test:release`), which tries more and looks at more widths and sizes. */
export const isRelease = process.env["HOLDFAST_RELEASE"] === "1";

/** How often something random is tried: as often as it says in a release run, an eighth of that otherwise. */
export function rounds(all: number): number {
  return isRelease ? all : Math.ceil(all / 8);
}
