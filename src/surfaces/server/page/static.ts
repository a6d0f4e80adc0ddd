import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { Hono } from "hono";
import { packageFile } from "../../../package-file.ts";
import { refuse, type ServerEnv } from "../http/index.ts";

const page = (file: string): string => packageFile(`dist/page/${file}`);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".png": "image/png",
};

/** The files of the page. Names of assets contain a hash of their content, so browsers may cache them forever. */
export function pageFilesStatic(): Hono<ServerEnv> {
  return new Hono<ServerEnv>()
    .get("/", async (c) => {
      const content = await readFile(page("index.html")).catch(() => undefined);
      if (!content) refuse(404, "The page is not built into this package.");
      return c.body(new Uint8Array(content), 200, {
        "content-type": TYPES[".html"]!,
        "cache-control": "no-store",
      });
    })
    .get("/assets/:file", async (c) => {
      const name = c.req.param("file");
      const type = TYPES[extname(name)];
      const isName = /^[\w-][\w.-]*$/.test(name);
      const content =
        isName && type ? await readFile(page(`assets/${name}`)).catch(() => undefined) : undefined;
      if (!content || !type) refuse(404, `There is no file ${name}.`);
      return c.body(new Uint8Array(content), 200, {
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
      });
    });
}
