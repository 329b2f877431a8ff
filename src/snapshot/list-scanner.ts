import { errorLine } from '../runtime/errors.ts';
import { Field } from './field.ts';
import { InputError } from './input-error.ts';
import { ItemGuess } from './item-guess.ts';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const space = 0x20;
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
/** The depth inside the list that is the field `items` of the whole. */
const itemsDepth = 2;

/**
 * Takes the JSON of a Kubernetes list apart while it is read: each item is parsed and handed on by itself, so that a list of hundreds of
 * megabytes is never held. Throws InputError.
 */
export class ListScanner {
  readonly #file: string;
  readonly #onItem: (item: Field) => void;
  /** All that is not in an item. */
  #envelope = '';
  #held: Buffer[] = [];
  readonly #guess = new ItemGuess();
  #count = 0;
  #depth = 0;
  #inItems = false;
  #inString = false;
  #isEscaped = false;
  /** An item has ended, and no comma came yet. */
  #wantsComma = false;

  constructor(file: string, onItem: (item: Field) => void) {
    this.#file = file;
    this.#onItem = onItem;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#isInItem) at = this.#readItem(chunk, at);
      else if (this.#inItems) at = this.#betweenItems(chunk, at);
      else at = this.#readEnvelope(chunk, at);
    }
  }

  /** The list without its items, once all of it was pushed. */
  finish(): Field {
    if (this.#isInItem) throw this.#wrong(this.#itemPath, 'is cut off: the file ends inside it');
    if (this.#inItems) throw this.#wrong('items', 'is cut off: the file ends inside the list');
    if (this.#envelope.trim() === '') throw this.#wrong('', 'is empty');
    return new Field(this.#file, '', this.#parsed(this.#envelope, ''));
  }

  get #isInItem(): boolean {
    return this.#inItems && this.#depth > itemsDepth;
  }

  get #itemPath(): string {
    return `items[${this.#count}]`;
  }

  #readEnvelope(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && !this.#inItems) {
      const byte = chunk[at] ?? 0;
      at += 1;
      if (this.#isText(byte)) continue;
      if (byte === openBracket || byte === openBrace) this.#open(byte, chunk.subarray(from, at));
      else if (byte === closeBracket || byte === closeBrace) this.#depth -= 1;
    }
    this.#envelope += chunk.toString('latin1', from, at);
    return at;
  }

  #open(byte: number, before: Buffer): void {
    this.#depth += 1;
    if (byte !== openBracket || this.#depth !== itemsDepth) return;
    const text = this.#envelope + before.toString('latin1');
    this.#inItems = /"items"\s*:\s*\[$/.test(text);
    this.#wantsComma = false;
  }

  #betweenItems(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0;
    if (byte === openBrace && !this.#wantsComma) return this.#beginItem(chunk, at);
    this.#guess.passed(byte);
    if (byte === closeBracket && (this.#wantsComma || this.#count === 0)) {
      this.#inItems = false;
      this.#depth -= 1;
      this.#envelope += ']';
    } else if (byte === comma && this.#wantsComma) this.#wantsComma = false;
    else if (!isSpace(byte)) throw this.#wrong(this.#itemPath, 'is not a JSON object');
    return at + 1;
  }

  #beginItem(chunk: Buffer, at: number): number {
    const end = this.#guess.end(chunk, at);
    const item = end === undefined ? undefined : parsedOrNot(chunk.toString('utf8', at, end));
    if (end !== undefined && item !== undefined) {
      this.#handOn(item);
      return end;
    }
    if (end !== undefined) this.#guess.forget();
    // One that is no JSON comes this way too, and is complained of where it ends.
    this.#depth += 1;
    this.#held = [chunk.subarray(at, at + 1)];
    return at + 1;
  }

  /** From inside an item to its end, or the chunk's. */
  #readItem(chunk: Buffer, from: number): number {
    let at = this.#inString ? this.#skipText(chunk, from) : from;
    // Most of the time goes here and below: locals, and one look at each byte.
    let depth = this.#depth;
    while (at < chunk.length && depth > itemsDepth) {
      const byte = chunk[at] ?? 0;
      at += 1;
      // Half of what kubectl writes is indentation.
      if (byte <= space) continue;
      const effect = effects[byte] ?? 0;
      if (effect === beginsText) at = this.#skipText(chunk, at);
      else depth += effect;
    }
    this.#depth = depth;
    this.#held.push(chunk.subarray(from, at));
    if (depth === itemsDepth) this.#endItem();
    return at;
  }

  /** From inside a string to behind its end, or the chunk's. */
  #skipText(chunk: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    let byte = 0;
    while (at < chunk.length && byte !== quote) {
      byte = chunk[at] ?? 0;
      at += byte === backslash ? 2 : 1;
    }
    this.#inString = byte !== quote;
    this.#isEscaped = at > chunk.length;
    return Math.min(at, chunk.length);
  }

  #endItem(): void {
    const bytes = this.#held.length === 1 && this.#held[0] ? this.#held[0] : Buffer.concat(this.#held);
    const path = this.#itemPath;
    this.#held = [];
    this.#handOn(this.#parsed(bytes.toString('utf8'), path));
  }

  #handOn(item: unknown): void {
    this.#onItem(new Field(this.#file, this.#itemPath, item));
    this.#guess.ended();
    this.#count += 1;
    this.#wantsComma = true;
  }

  /** True inside a string and at its end. */
  #isText(byte: number): boolean {
    if (!this.#inString) {
      this.#inString = byte === quote;
      return this.#inString;
    }
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#inString = false;
    return true;
  }

  #parsed(text: string, path: string): unknown {
    try {
      return JSON.parse(text);
    } catch (err) {
      const isCut = path === '' && (this.#depth > 0 || this.#inString);
      throw this.#wrong(
        path,
        isCut ? 'is cut off: the file ends too early' : `is not JSON: ${errorLine(err)}`,
      );
    }
  }

  #wrong(path: string, what: string): InputError {
    return new InputError(this.#file, path, what);
  }
}

/** What a text says, when it is JSON. */
function parsedOrNot(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isSpace = (byte: number): boolean => byte === space || (byte >= 0x09 && byte <= 0x0d);

/** What a byte outside of strings does to the depth, or that it begins one. */
const effects = new Int8Array(256);
const beginsText = 2;
effects[openBrace] = effects[openBracket] = 1;
effects[closeBrace] = effects[closeBracket] = -1;
effects[quote] = beginsText;
