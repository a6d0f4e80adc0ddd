import type { OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import type { AddressServer } from "../options.ts";
import { messageFilter } from "./message-filter.ts";
import type { Sdk } from "./sdk.ts";

const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

export function addressTransport(
  { url, headers, oauth }: AddressServer,
  { sdk, auth }: { sdk: Sdk; auth: object | undefined },
): Transport {
  const authProvider = (auth as OAuthClientProvider | undefined) ?? (oauth && signIn(oauth, sdk));
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: limitedFetch,
    requestInit: headers ? { headers } : undefined,
    authProvider,
  });
  return withFilter(transport);
}

function signIn(oauth: NonNullable<AddressServer["oauth"]>, sdk: Sdk): OAuthClientProvider {
  const { clientId, clientSecret, issuer, scope } = oauth;
  return new sdk.ClientCredentialsProvider({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    clientName: "holdfast",
    scope,
  });
}

/** Drops messages that the client does not need. */
function withFilter(transport: Transport): Transport {
  const isUseful = messageFilter();
  let deliver: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => deliver,
    set: (handler: Transport["onmessage"]) => {
      deliver = handler && ((message, extra) => isUseful(message) && handler(message, extra));
    },
  });
  return transport;
}

/** `fetch` with a limit on the size of a response. */
const limitedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let length = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, stream) {
        length += piece.length;
        if (length > MAX_RESPONSE_BYTES)
          stream.error(new Error(`It answered with more than ${MAX_RESPONSE_BYTES / 2 ** 20} MB.`));
        else stream.enqueue(piece);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return Object.defineProperty(new Response(counted, { status, statusText, headers }), "url", {
    value: response.url,
  });
};
