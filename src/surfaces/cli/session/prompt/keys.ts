import { StringDecoder } from "node:string_decoder";

/** An input: text, a whole paste, or a key by name (`enter`, `ctrl-c`, `alt-left`, `shift-tab`). */
export type Key =
  | { type: "text"; text: string }
  | { type: "paste"; text: string }
  | { type: "key"; name: string };

const ESC = "\u001B";
const [PASTE, PASTE_END] = [`${ESC}[200~`, `${ESC}[201~`];

/** A sequence that a terminal sends for a key: `ESC [ 1 ; 5 C`, `ESC O P`, or the kitty protocol's `ESC [ 13 ; 2 u`. */
// oxlint-disable-next-line no-control-regex -- keys are control characters
const SEQUENCE = /^\u001B(?:\[([\d;:]*)([A-Za-z~])|O([A-Za-z]))/;
// oxlint-disable-next-line no-control-regex -- keys are control characters
const UNFINISHED = /^\u001B(?:\[[\d;:]*|O)?$/;

const LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "shift-tab",
};
const NUMBERS: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "page-up",
  6: "page-down",
  7: "home",
  8: "end",
};
/** Code points of the kitty protocol and of xterm's modifyOtherKeys. */
const CODES: Readonly<Record<number, string>> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };
const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "ctrl-j",
  "\t": "tab",
  "\b": "ctrl-h",
  "\u007F": "backspace",
};

/** Decodes terminal input into keys, in chunks of any size. */
export class KeyDecoder {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #pasted: string | undefined;

  /** The keys in a chunk of input. An incomplete key at its end is kept for the next chunk. */
  keys(chunk: Buffer | string): Key[] {
    this.#rest += typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    const keys: Key[] = [];
    for (let key = this.#next(); key; key = this.#next()) keys.push(key);
    return keys;
  }

  /** Whether input is incomplete, such as an escape. If nothing follows, it is the key itself. */
  get isWaiting(): boolean {
    return this.#pasted === undefined && this.#rest !== "";
  }

  /** Ends incomplete input, which counts as the escape key. */
  flush(): Key[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : [{ type: "key", name: "escape" }];
  }

  #next(): Key | undefined {
    if (this.#pasted !== undefined) return this.#paste(this.#pasted);
    const text = this.#rest;
    if (text === "") return undefined;
    if (text[0] === ESC) return this.#escape(text);
    const control = controlName(text[0]!);
    if (control !== undefined) return this.#take(1, { type: "key", name: control });
    const [run = ""] = PRINTABLE.exec(text) ?? [];
    return this.#take(run.length || 1, { type: "text", text: run });
  }

  #escape(text: string): Key | undefined {
    if (text.startsWith(PASTE)) {
      this.#rest = text.slice(PASTE.length);
      this.#pasted = "";
      return this.#next();
    }
    const [sequence, numbers = "", letter, function_] = SEQUENCE.exec(text) ?? [];
    if (sequence !== undefined) {
      const name = sequenceName(numbers, letter ?? function_ ?? "");
      return this.#take(sequence.length, { type: "key", name });
    }
    if (UNFINISHED.test(text)) return undefined;
    // Two escapes are two keys; any other character after an escape was typed with Alt.
    if (text[1] === ESC) return this.#take(1, { type: "key", name: "escape" });
    const [character = ""] = text.slice(1);
    const name = controlName(character) ?? character;
    return this.#take(1 + character.length, { type: "key", name: `alt-${name}` });
  }

  #paste(start: string): Key | undefined {
    const text = start + this.#rest;
    const end = text.indexOf(PASTE_END);
    this.#rest = "";
    if (end < 0) {
      this.#pasted = text;
      return undefined;
    }
    this.#pasted = undefined;
    this.#rest = text.slice(end + PASTE_END.length);
    return { type: "paste", text: text.slice(0, end).replaceAll(/\r\n?/g, "\n") };
  }

  #take(length: number, key: Key): Key {
    this.#rest = this.#rest.slice(length);
    return key;
  }
}

// oxlint-disable-next-line no-control-regex -- everything but control characters
const PRINTABLE = /^[^\u0000-\u001F\u007F]+/;

function controlName(character: string): string | undefined {
  const name = CONTROLS[character];
  if (name !== undefined) return name;
  const code = character.charCodeAt(0);
  return code < 32 ? `ctrl-${String.fromCharCode(code + 96)}` : undefined;
}

function sequenceName(numbers: string, letter: string): string {
  const [first = "", second = "1", third] = numbers.split(";").map((part) => part.split(":", 1)[0]!);
  // xterm encodes a modified key as 27;modifier;code~.
  if (letter === "~" && first === "27" && third !== undefined) return withModifiers(second, codeName(third));
  if (letter === "u") return withModifiers(second, codeName(first));
  const name = letter === "~" ? NUMBERS[first] : LETTERS[letter];
  return name === undefined ? "unknown" : withModifiers(second, name);
}

function codeName(code: string): string {
  const point = Number(code);
  const isCharacter = point >= 32 && point <= 0x10_ff_ff;
  return CODES[point] ?? (isCharacter ? String.fromCodePoint(point) : "unknown");
}

function withModifiers(modifiers: string, name: string): string {
  const bits = Math.max(0, Number(modifiers) - 1);
  const prefix = [bits & 4 && "ctrl-", bits & 2 && "alt-", bits & 1 && "shift-"].filter(Boolean).join("");
  return name.startsWith("shift-") ? name : prefix + name;
}
