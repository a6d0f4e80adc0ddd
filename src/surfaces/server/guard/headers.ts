/** Headers of every answer: no type guessing, no referrer, no frames. */
export const HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Scripts of the page's own files alone, and no way to make text into one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types default dompurify",
];

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...HEADERS,
  "content-security-policy": POLICY.join("; "),
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
};
