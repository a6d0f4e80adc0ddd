import { lookup, type LookupAddress } from "node:dns";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Places } from "./places.ts";

const TIME_MS = 30_000;
/** The number of bytes that are read of a page, after decompression. */
export const MAX_PAGE_BYTES = 5_000_000;
const MAX_REDIRECTS = 5;

const HEADERS = {
  "user-agent": "holdfast (an agent that reads for its user)",
  accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br, deflate",
};

export interface Page {
  /** Its address after all redirects. */
  url: URL;
  status: number;
  /** Its content type, in lower case. */
  type: string;
  body: Buffer;
  /** Whether the end of a longer page is missing. */
  isCut: boolean;
}

/** The reason why a page cannot be fetched, in words for a model. */
export class PageError extends Error {}

/**
 * Fetches a page. Checks the address of every redirect, and connects only to IP addresses that were checked. Throws
 * `PageError`, or the reason of the signal.
 */
export async function fetchPage(
  address: string,
  { places, signal, timeoutMs = TIME_MS }: { places: Places; signal?: AbortSignal; timeoutMs?: number },
): Promise<Page> {
  const limit = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any(signal ? [signal, limit] : [limit]);
  try {
    let url = readAddress(address);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const problem = places.problem(url);
      if (problem !== undefined) throw new PageError(problem);
      const response = await request(url, places, either);
      const { location } = response.headers;
      const isRedirect =
        [301, 302, 303, 307, 308].includes(response.statusCode ?? 0) && location !== undefined;
      if (!isRedirect) return await read(response, url, either);
      response.destroy();
      url = readAddress(location, url);
    }
    throw new PageError(`There are more than ${MAX_REDIRECTS} redirects.`);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PageError) throw error;
    if (limit.aborted) throw new PageError(`There was no answer within ${timeoutMs / 1000} s.`);
    throw new PageError(error instanceof Error ? error.message : String(error));
  }
}

function readAddress(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href))
    throw new PageError(`${JSON.stringify(text.slice(0, 200))} is no address.`);
  return new URL(text, base?.href);
}

function request(url: URL, places: Places, signal: AbortSignal): Promise<IncomingMessage> {
  const { get } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    // Not the shared agent: its open connections belong to other look-ups.
    get(url, { headers: HEADERS, agent: false, lookup: checkedLookup(url, places), signal }, resolve).on(
      "error",
      reject,
    );
  });
}

/** Looks up the addresses of a host, and fails if any of them may not be reached: Node may connect to any of them. */
export function checkedLookup(url: URL, places: Places, find: typeof lookup = lookup): LookupFunction {
  return (host, options, callback) => {
    find(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`${host} was not found.`), "", 0);
      for (const { address } of addresses) {
        const problem = places.problemAt(address, url);
        if (problem !== undefined) return callback(new PageError(problem), "", 0);
      }
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

async function read(response: IncomingMessage, url: URL, signal: AbortSignal): Promise<Page> {
  const { statusCode: status = 0, headers } = response;
  const type = (headers["content-type"] ?? "text/html").toLowerCase();
  if (!isText(type)) {
    response.destroy();
    throw new PageError(`${url.href} is ${type}, which is no text.`);
  }
  const body = decompress(response);
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      // Counted after decompression, which can multiply the size.
      length += chunk.length;
      if (length > MAX_PAGE_BYTES) break;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
  return {
    url,
    status,
    type,
    body: Buffer.concat(chunks).subarray(0, MAX_PAGE_BYTES),
    isCut: length > MAX_PAGE_BYTES,
  };
}

function isText(type: string): boolean {
  return /^text\/|[/+](?:json|xml|x?html|yaml|javascript|ndjson|markdown)\b/.test(type);
}

function decompress(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return response;
  const create = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    br: createBrotliDecompress,
    deflate: createInflate,
  }[encoding];
  if (!create) throw new PageError(`The page is packed as ${encoding}, which is not known.`);
  const stream = create();
  response.on("error", (error) => stream.destroy(error));
  return response.pipe(stream);
}

/** Decodes a page, by the charset of its byte order mark, its content type or its `<meta>` tag; default UTF-8. */
export function decode(body: Buffer, type: string): string {
  const labels = [
    charsetOfBom(body),
    /charset\s*=\s*["']?([\w-]+)/.exec(type)?.[1],
    charsetOfMeta(body),
    "utf-8",
  ];
  for (const label of labels) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label).decode(body);
    } catch {
      // An unknown charset: the next label is tried.
    }
  }
  return body.toString("utf8");
}

function charsetOfBom(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
}

/** The charset of a `<meta>` tag at the beginning of a page. */
function charsetOfMeta(body: Buffer): string | undefined {
  const start = body.subarray(0, 1024).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
