/**
 * Collects what is young, so that the garbage of one run is not collected in the next. A whole collection would also
 * throw away the code that V8 has compiled for objects of which there is none at the moment, messages above all: then
 * half of what is measured is its compiler, at work for everything anew.
 */
export function collectYoung(): void {
  globalThis.gc?.({ type: "minor" });
}
