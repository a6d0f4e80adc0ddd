import { AT_ONCE, type Call, type Conversation } from "../conversation.ts";
import { code, local, reasonIn } from "../words.ts";
import { countIn, placesOf, readCounts } from "./places.ts";
import type { Listing } from "./walk.ts";

/** How many lines files have. A file that is not among them is empty, or not text. */
export interface LineCounts {
  counts: ReadonlyMap<string, number>;
  /** What was not searched, in sentences. */
  notes: string[];
  next: Call[];
}

const EVERY_LINE = "^";
/** So many turns, as long as a turn has room. */
const FEW_TURNS = 24;

/** Counts the lines of all files, place by place. */
export function countLines({ made }: Conversation, listing: Listing): LineCounts {
  const searches = placesOf(listing).map((place) => countIn(place, EVERY_LINE));
  const counts = new Map<string, number>();
  const notes: string[] = [];
  for (const search of searches) {
    const found = made(search);
    if (found?.failed) notes.push(`${code(local(String(search.args["path"])))}: ${reasonIn(found)}`);
    const read = readCounts(found && !found.failed ? found.result : "");
    for (const [path, count] of read.counts) counts.set(path, count);
    notes.push(...read.notes);
  }
  const atOnce = Math.min(AT_ONCE, Math.ceil(searches.length / FEW_TURNS));
  const next = searches.filter((search) => !made(search)).slice(0, atOnce);
  return { counts, notes, next };
}
