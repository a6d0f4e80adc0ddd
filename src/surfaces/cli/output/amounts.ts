/** `0:07`, `12:30`, `1:02:03`. */
export function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const pad = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}`
    : `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`;
}

/** A clock, and nothing for what took less than a second. */
export function duration(milliseconds: number): string | undefined {
  return milliseconds < 1000 ? undefined : clock(milliseconds);
}

/** `950`, `1.2k`, `3.4M`. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value));
  return value < 999_500 ? `${trim(value / 1000)}k` : `${trim(value / 1_000_000)}M`;
}

/** `$0.0042`, `$1.30`. */
export function dollars(value: number): string {
  return `$${value >= 0.1 || value === 0 ? value.toFixed(2) : value.toPrecision(2)}`;
}

/** `under a minute`, `about 3 min`, `about 2 h`. */
export function roughly(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 1) return "under a minute";
  return minutes < 90 ? `about ${Math.round(minutes)} min` : `about ${Math.round(minutes / 60)} h`;
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
}

function trim(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}
