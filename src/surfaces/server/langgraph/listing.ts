import { z } from "zod";
import { checked, listPart } from "../http/index.ts";

type Body = Record<string, unknown>;

/** Whether a value has in it all that another has, at any depth: what LangGraph means by a filter, jsonb's `@>`. */
export function contains(value: unknown, wanted: unknown): boolean {
  if (!isNested(wanted)) return value === wanted;
  if (!isNested(value) || Array.isArray(value) !== Array.isArray(wanted)) return false;
  if (!Array.isArray(value)) {
    return Object.entries(wanted).every(
      ([key, part]) => Object.hasOwn(value, key) && contains(value[key], part),
    );
  }
  const own = new Set<unknown>(value);
  return (wanted as unknown as unknown[]).every((part) =>
    isNested(part) ? value.some((one) => contains(one, part)) : own.has(part),
  );
}

function isNested(value: unknown): value is Body {
  return typeof value === "object" && value !== null;
}

type SortKey = string | number;

/** Sort keys by the names that clients use; the first is the default. */
export type Sorting<T> = Record<string, (thing: T) => SortKey>;

/** Sorts by fields of the things themselves. */
export function byFields<Name extends string>(
  ...names: readonly Name[]
): Sorting<Partial<Record<Name, SortKey | null>>> {
  return Object.fromEntries(names.map((name) => [name, (thing) => thing[name] ?? ""]));
}

/** Puts a list in the order that a client wants, the last first unless it says otherwise. Answers 422 for others. */
export function sorted<T>(things: readonly T[], given: Body, sorting: Sorting<T>): T[] {
  const names = Object.keys(sorting);
  const order = z.looseObject({
    sort_by: z.enum(names).nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
  });
  const { sort_by: by, sort_order: direction } = checked(order, given);
  const key = sorting[by ?? names[0]!]!;
  const sign = direction === "asc" ? 1 : -1;
  return things.toSorted((a, b) => sign * compared(key(a), key(b)));
}

function compared(a: SortKey, b: SortKey): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SELECT = z.looseObject({ select: z.array(z.string()).nullish() });

/** The fields that a client wants to see; undefined for all. Answers 422 for what is no list of names. */
export function selectOf(given: Body): ReadonlySet<string> | undefined {
  const { select } = checked(SELECT, given);
  return select ? new Set(select) : undefined;
}

/** The fields of a thing that a client selects. */
export function selected(thing: object, select: ReadonlySet<string> | undefined): object {
  return select ? Object.fromEntries(Object.entries(thing).filter(([key]) => select.has(key))) : thing;
}

/** The part of a list that a client wants, in its order and with the fields that it selects. Answers 422 for others. */
export function listed<T extends object>(things: readonly T[], given: Body, sorting: Sorting<T>): object[] {
  const { limit, offset } = listPart(given);
  const select = selectOf(given);
  const page = sorted(things, given, sorting).slice(offset, offset + limit);
  return page.map((thing) => selected(thing, select));
}
