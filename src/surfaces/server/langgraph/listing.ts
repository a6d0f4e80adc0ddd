import { z } from "zod";
import { validate, pagination } from "../http/index.ts";

type Body = Record<string, unknown>;

/** Whether a value contains another at any depth, as a filter of LangGraph's and jsonb's `@>` do. */
export function contains(value: unknown, filter: unknown): boolean {
  if (!isNested(filter)) return value === filter;
  if (!isNested(value) || Array.isArray(value) !== Array.isArray(filter)) return false;
  if (!Array.isArray(value)) {
    return Object.entries(filter).every(
      ([key, part]) => Object.hasOwn(value, key) && contains(value[key], part),
    );
  }
  const items = new Set<unknown>(value);
  return (filter as unknown as unknown[]).every((part) =>
    isNested(part) ? value.some((one) => contains(one, part)) : items.has(part),
  );
}

function isNested(value: unknown): value is Body {
  return typeof value === "object" && value !== null;
}

type SortKey = string | number;

/** Functions that return a sort key, by the field names of the protocol; the first is the default. */
export type Sorting<T> = Record<string, (thing: T) => SortKey>;

/** Sort keys that are fields of the things themselves. */
export function byFields<Name extends string>(
  ...names: readonly Name[]
): Sorting<Partial<Record<Name, SortKey | null>>> {
  return Object.fromEntries(names.map((name) => [name, (thing) => thing[name] ?? ""]));
}

/** Sorts a list by a body's `sort_by` and `sort_order`; descending by default. Answers 422 for unknown values. */
export function sorted<T>(things: readonly T[], fields: Body, sorting: Sorting<T>): T[] {
  const names = Object.keys(sorting);
  const order = z.looseObject({
    sort_by: z.enum(names).nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
  });
  const { sort_by: by, sort_order: direction } = validate(order, fields);
  const key = sorting[by ?? names[0]!]!;
  const sign = direction === "asc" ? 1 : -1;
  return things.toSorted((a, b) => sign * compare(key(a), key(b)));
}

function compare(a: SortKey, b: SortKey): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SELECT = z.looseObject({ select: z.array(z.string()).nullish() });

/** The fields in a body's `select`; undefined for all. Answers 422 for anything but a list of names. */
export function selectOf(fields: Body): ReadonlySet<string> | undefined {
  const { select } = validate(SELECT, fields);
  return select ? new Set(select) : undefined;
}

export function selected(thing: object, select: ReadonlySet<string> | undefined): object {
  return select ? Object.fromEntries(Object.entries(thing).filter(([key]) => select.has(key))) : thing;
}

/** Sorts a list, cuts out the requested part and selects fields. Answers 422 for invalid options. */
export function listed<T extends object>(things: readonly T[], fields: Body, sorting: Sorting<T>): object[] {
  const { limit, offset } = pagination(fields);
  const select = selectOf(fields);
  const page = sorted(things, fields, sorting).slice(offset, offset + limit);
  return page.map((thing) => selected(thing, select));
}
