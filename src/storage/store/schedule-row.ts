import type { ScheduleRecord } from "./thread-store.ts";

/** A schedule as a row of a ledger. */
export type ScheduleRow = { id: string; created: number; due: number | null; content: string };

export function fromSchedule({ id, createdAt, due, content }: ScheduleRecord): ScheduleRow {
  return { id, created: createdAt, due: due ?? null, content: JSON.stringify(content) };
}

export function toSchedule({ id, created, due, content }: ScheduleRow): ScheduleRecord {
  return {
    id,
    createdAt: created,
    ...(due !== null && { due }),
    content: JSON.parse(content) as unknown,
  };
}
