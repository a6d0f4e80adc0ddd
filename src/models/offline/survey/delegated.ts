import { describeDuplicates, DUPLICATES, findCandidates, readDuplicates } from "./duplicates.ts";
import type { Errand } from "./errand.ts";
import type { Findings } from "./findings.ts";
import { describeManifests, MANIFESTS, readManifests } from "./manifests.ts";
import { describeMarkers, MARKERS, readMarkers } from "./markers.ts";
import { placesOf } from "./places.ts";

/** The parts of a survey that are handed to helpers. What needs nobody is entered in the findings at once. */
export function errandsFor(findings: Findings): Errand[] {
  const { listing, languages } = findings;
  const { groups, skipped } = findCandidates(listing.files, languages?.counts);
  const places = placesOf(listing);
  const duplicates: Errand = {
    section: "duplicates",
    job: DUPLICATES,
    description: groups.length > 0 ? describeDuplicates(groups) : undefined,
    read: (report) => {
      const found = report === "" ? { alike: [], compared: 0 } : readDuplicates(report);
      if (found) findings.duplicates = { ...found, alike: [...found.alike, ...skipped] };
      return found !== undefined;
    },
  };
  const markers: Errand = {
    section: "markers",
    job: MARKERS,
    description: places.length > 0 ? describeMarkers(listing.base, places) : undefined,
    read: (report) => {
      const found = report === "" ? { lines: 0, files: 0, shown: [], notes: [] } : readMarkers(report);
      if (found) findings.markers = found;
      return found !== undefined;
    },
  };
  const manifests: Errand = {
    section: "manifests",
    job: MANIFESTS,
    description: places.length > 0 ? describeManifests(listing.base) : undefined,
    read: (report) => {
      const found = report === "" ? { found: 0, rows: [], notes: [] } : readManifests(report);
      if (found) findings.manifests = found;
      return found !== undefined;
    },
  };
  return [duplicates, markers, manifests];
}
