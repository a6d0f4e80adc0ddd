import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("documents/", import.meta.url));

/** The documents of this example as pages of a web server on this machine, for `web_fetch`. */
export async function servePages(): Promise<{ origin: string; close: () => void }> {
  const server = createServer((request, response) => {
    void readFile(FOLDER + basename(request.url ?? ""), "utf8").then(
      (text) => response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(toPage(text)),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

function toPage(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const [heading = "", ...paragraphs] = escaped.trim().split(/\n{2,}/);
  const title = heading.replace(/^# /, "");
  const body = paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join("\n");
  return `<!doctype html><title>${title}</title><nav>Kelp papers</nav><main><h1>${title}</h1>\n${body}</main>`;
}
