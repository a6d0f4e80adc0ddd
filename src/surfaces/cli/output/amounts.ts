/** `0:07`, `12:30`, `1:02:03`. */
export function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}`
    : `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`;
}

/** A clock; undefined for less than a second. */
export function duration(milliseconds: number): string | undefined {
  return milliseconds < 1000 ? undefined : clock(milliseconds);
}

/** `under a minute`, `about 3 min`, `about 2 h`. */
export function roughly(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 1) return "under a minute";
  return minutes < 90 ? `about ${Math.round(minutes)} min` : `about ${Math.round(minutes / 60)} h`;
}
