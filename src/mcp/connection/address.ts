import type { OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import type { AddressServer } from "../options.ts";
import type { Sdk } from "./sdk.ts";
import { wantedMessages } from "./wanted-messages.ts";

const LONGEST_ANSWER = 64 * 2 ** 20;

/** The transport of a server at an address. */
export function addressTransport(
  { url, headers, oauth }: AddressServer,
  { sdk, auth }: { sdk: Sdk; auth: object | undefined },
): Transport {
  const authProvider = (auth as OAuthClientProvider | undefined) ?? (oauth && signIn(oauth, sdk));
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: limitedFetch,
    ...(headers && { requestInit: { headers } }),
    ...(authProvider && { authProvider }),
  });
  return onlyWanted(transport);
}

function signIn(oauth: NonNullable<AddressServer["oauth"]>, sdk: Sdk): OAuthClientProvider {
  const { clientId, clientSecret, issuer, scope } = oauth;
  return new sdk.ClientCredentialsProvider({
    clientId,
    clientSecret,
    expectedIssuer: issuer,
    clientName: "holdfast",
    ...(scope !== undefined && { scope }),
  });
}

/** Lets no message through to the client that nobody reads. */
function onlyWanted(transport: Transport): Transport {
  const isWanted = wantedMessages();
  let deliver: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => deliver,
    set: (handler: Transport["onmessage"]) => {
      deliver = handler && ((message, extra) => isWanted(message) && handler(message, extra));
    },
  });
  return transport;
}

/** `fetch`, whose answers end with an error where they have no end. */
const limitedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let length = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, stream) {
        length += piece.length;
        if (length > LONGEST_ANSWER)
          stream.error(new Error(`It answered with more than ${LONGEST_ANSWER / 2 ** 20} MB.`));
        else stream.enqueue(piece);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return Object.defineProperty(new Response(counted, { status, statusText, headers }), "url", {
    value: response.url,
  });
};
