/** An event of a stream, as it stands on the wire. */
export interface ServerEvent {
  id?: string;
  event: string;
  data: string;
}

/** Reads events out of pieces of text, however they are cut. Comments are left out. */
export function eventReader(): (piece: string) => ServerEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop()!;
    return blocks.flatMap(readBlock);
  };
}

function readBlock(block: string): ServerEvent[] {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w+):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") id = value;
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? [] : [{ event, data: data.join("\n"), ...(id !== undefined && { id }) }];
}
