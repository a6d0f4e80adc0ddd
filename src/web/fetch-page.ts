import { lookup, type LookupAddress } from "node:dns";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Places } from "./places.ts";

const TIME_MS = 30_000;
/** The most that is read of a page, unpacked. */
export const LARGEST_PAGE = 5_000_000;
const MOST_REDIRECTS = 5;

const HEADERS = {
  "user-agent": "holdfast (an agent that reads for its user)",
  accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br, deflate",
};

export interface Page {
  /** Where it was found in the end. */
  url: URL;
  status: number;
  /** Its content type, in lower case. */
  type: string;
  body: Buffer;
  /** Whether the page was longer. */
  isCut: boolean;
}

/** Why a page cannot be had, in words for a model. */
export class PageError extends Error {}

/**
 * Gets a page. Every place on the way is checked, and the address that was checked is the one that is connected to.
 * Throws `PageError`, and the reason of the signal.
 */
export async function fetchPage(
  address: string,
  {
    places,
    signal,
    timeoutMs = TIME_MS,
  }: { places: Places; signal?: AbortSignal | undefined; timeoutMs?: number },
): Promise<Page> {
  const limit = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any(signal ? [signal, limit] : [limit]);
  try {
    let url = readAddress(address);
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
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
    throw new PageError(`There are more than ${MOST_REDIRECTS} redirects.`);
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
    // A connection of its own: one that is kept was made for another look-up.
    get(url, { headers: HEADERS, agent: false, lookup: checkedLookup(url, places), signal }, resolve).on(
      "error",
      reject,
    );
  });
}

/** Finds the addresses of a host. Where one of them may not be reached, none is: which is taken is not ours to say. */
export function checkedLookup(url: URL, places: Places, find: typeof lookup = lookup): LookupFunction {
  return (host, options, callback) => {
    find(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const [first] = found ?? [];
      if (error || !first) return callback(error ?? new Error(`${host} was not found.`), "", 0);
      for (const { address } of found) {
        const problem = places.problemAt(address, url);
        if (problem !== undefined) return callback(new PageError(problem), "", 0);
      }
      if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

async function read(response: IncomingMessage, url: URL, signal: AbortSignal): Promise<Page> {
  const { statusCode: status = 0, headers } = response;
  const type = (headers["content-type"] ?? "text/html").toLowerCase();
  const page = { url, status, type };
  if (!isText(type)) {
    response.destroy();
    throw new PageError(`${url.href} is ${type}, which is no text.`);
  }
  const body = unpacked(response);
  const pieces: Buffer[] = [];
  let length = 0;
  const stop = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      // Counted as it is unpacked: little can become very much.
      length += piece.length;
      if (length > LARGEST_PAGE) break;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
  return { ...page, body: Buffer.concat(pieces).subarray(0, LARGEST_PAGE), isCut: length > LARGEST_PAGE };
}

function isText(type: string): boolean {
  return /^text\/|[/+](?:json|xml|x?html|yaml|javascript|ndjson|markdown)\b/.test(type);
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity") return response;
  const unpack = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    br: createBrotliDecompress,
    deflate: createInflate,
  }[encoding];
  if (!unpack) throw new PageError(`The page is packed as ${encoding}, which is not known.`);
  const stream = unpack();
  response.on("error", (error) => stream.destroy(error));
  return response.pipe(stream);
}

/** The text of a page, in the charset that its type, its first bytes or the page itself names. */
export function decode(body: Buffer, type: string): string {
  const labels = [
    markedCharset(body),
    /charset\s*=\s*["']?([\w-]+)/.exec(type)?.[1],
    namedCharset(body),
    "utf-8",
  ];
  for (const label of labels) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label).decode(body);
    } catch {
      // A charset that nobody knows: the next guess is as good.
    }
  }
  return body.toString("utf8");
}

function markedCharset(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
}

/** `<meta charset>` stands at the beginning of a page. */
function namedCharset(body: Buffer): string | undefined {
  const start = body.subarray(0, 1024).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
