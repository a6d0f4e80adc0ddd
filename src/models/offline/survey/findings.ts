import type { Alike } from "./duplicates.ts";
import type { LanguageRow } from "./languages.ts";
import type { LargeFile } from "./largest.ts";
import type { Manifests } from "./manifests.ts";
import type { Markers } from "./markers.ts";
import type { Section } from "./steps.ts";
import type { Listing } from "./walk.ts";

/** What a survey has found out. A section that is missing has its reason in `omitted`. */
export interface Findings {
  listing: Listing;
  languages?: { rows: LanguageRow[]; counts: ReadonlyMap<string, number>; notes: string[] };
  largest?: LargeFile[];
  duplicates?: { alike: Alike[]; compared: number };
  markers?: Markers;
  manifests?: Manifests;
  omitted: Map<Section, string>;
}

/** The number of bytes in all files whose size is known. */
export function bytesOf({ files }: Pick<Listing, "files">): number {
  return files.reduce((sum, { size = 0 }) => sum + size, 0);
}
