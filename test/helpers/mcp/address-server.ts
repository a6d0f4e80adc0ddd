import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** An MCP server at an address that wants a token, which its OAuth server gives to one client. */
export interface AddressServer {
  url: string;
  /** What was sent to the token's address, and who was let in. */
  signIns: string[];
  tokens: string[];
  /** Forgets all sessions, as a server does that was started again. */
  forget: () => void;
  stop: () => void;
}

export interface AddressServerOptions {
  /** Its tool answers without end. */
  flood?: boolean;
  /** Is called with each request's method; the answer waits for it. */
  before?: (method: string) => Promise<void> | void;
}

export async function startAddressServer({
  flood = false,
  before = () => {},
}: AddressServerOptions = {}): Promise<AddressServer> {
  const signIns: string[] = [];
  const tokens: string[] = [];
  let session = 0;
  const server = createServer((request, response) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const json = (status: number, body: object, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    };
    void read(request).then(async (text) => {
      switch (new URL(request.url!, url).pathname) {
        case "/.well-known/oauth-protected-resource":
        case "/.well-known/oauth-protected-resource/mcp":
          return json(200, { resource: `${url}/mcp`, authorization_servers: [url] });
        case "/.well-known/oauth-authorization-server":
          return json(200, {
            issuer: url,
            authorization_endpoint: `${url}/authorize`,
            token_endpoint: `${url}/token`,
            response_types_supported: ["code"],
            grant_types_supported: ["client_credentials"],
            token_endpoint_auth_methods_supported: ["client_secret_basic"],
          });
        case "/token":
          signIns.push(`${request.headers.authorization} ${text}`);
          return json(200, { access_token: "access-1", token_type: "Bearer", expires_in: 3600 });
        case "/mcp":
          break;
        default:
          return json(404, {});
      }
      const token = request.headers.authorization ?? "";
      tokens.push(token);
      if (token !== "Bearer access-1") {
        const metadata = `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`;
        return json(401, {}, { "www-authenticate": metadata });
      }
      if (request.method !== "POST") return json(405, {});
      const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: never };
      if (id === undefined) return void response.writeHead(202).end();
      await before(method);
      const answer = (result: object, headers = {}): void =>
        json(200, { jsonrpc: "2.0", id, result }, headers);
      if (method === "initialize") {
        const { protocolVersion } = params as { protocolVersion: string };
        const own = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } };
        return answer(own, { "mcp-session-id": `s${session}` });
      }
      if (method !== "tools/list" && method !== "tools/call") {
        return json(200, { jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
      }
      if (request.headers["mcp-session-id"] !== `s${session}`) return json(404, { error: "no session" });
      if (method === "tools/list") {
        return answer({ tools: [{ name: "hello", inputSchema: { type: "object" } }] });
      }
      if (!flood) return answer({ content: [{ type: "text", text: `hello in session s${session}` }] });
      response.writeHead(200, { "content-type": "application/json" });
      const piece = Buffer.alloc(2 ** 20, "x");
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", write);
      };
      return write();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    signIns,
    tokens,
    forget: () => void (session += 1),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece as string;
  return text;
}
