import { createElement, Fragment, type ReactElement } from "react";
import { argumentParts, diffParts } from "../../../../src/threads/story/html/call-parts.ts";
import type { MakeElement } from "../../../../src/threads/story/html/prose.ts";

/** Makes a node of the page. */
export const node: MakeElement<ReactElement> = (tag, attributes, ...content) =>
  createElement(tag, attributes, ...content);

/** The difference of two texts, line by line. */
export function Diff({ label, ...texts }: { before: string; after: string; label: string }) {
  return createElement(Fragment, null, ...diffParts(texts, label, node));
}

/** The arguments of a call, as they are easiest to read. */
export function Arguments({ name, args }: { name: string; args: unknown }) {
  return createElement(Fragment, null, ...argumentParts(name, args, node));
}
