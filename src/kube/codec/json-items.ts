import { HeldBytes } from './held-bytes.ts';

const [quote, backslash] = [0x22, 0x5c];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];
const deeper = new Map([
  [openObject, 1],
  [openList, 1],
  [closeObject, -1],
  [closeList, -1],
]);
/** The number of open objects and lists inside the list of items, and inside one item. */
const depth = { list: 2, item: 3 };
/** Enough for the key before a list, with room for indentation. */
const keyBytes = 64;

/** A token that begins or ends with the current byte. */
type Mark = 'a list' | 'an item' | 'the end of an item' | undefined;

/** Stands for an object in the rest, which must remain JSON: only so a missing comma, or a list that is cut off, is noticed. */
const placeholder = Buffer.from('{}');

/**
 * Cuts the objects out of one list of a JSON object while it arrives. Holds one of them at a time, and the other fields: megabytes of text in one
 * piece, and all objects of the list, would enlarge the heap permanently.
 */
export class JsonItems {
  /** The key of the list at the end of a text. */
  readonly #key: RegExp;
  readonly #onItem: (json: Buffer) => void;
  readonly #item = new HeldBytes();
  readonly #rest = new HeldBytes();
  #depth = 0;
  #isInItems = false;
  #isInString = false;
  #isEscaped = false;

  /** Whether the text that was pushed ends inside an object of the list. */
  get isInItem(): boolean {
    return this.#isInItems && this.#depth >= depth.item;
  }

  /** Calls `onItem` with the text of each object of the list; the text is valid until `onItem` returns. */
  constructor(key: string, onItem: (json: Buffer) => void) {
    this.#key = new RegExp(`"${key}"\\s*:\\s*$`);
    this.#onItem = onItem;
  }

  /** The text with {} in the place of each object; complete after the last `push`. An object that is cut off is part of it, so that it is no JSON. */
  get rest(): Buffer {
    const { bytes } = this.#item;
    return bytes.length === 0 ? this.#rest.bytes : Buffer.concat([this.#rest.bytes, bytes]);
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const mark = this.#read(chunk[at] ?? 0);
      if (mark === undefined) continue;
      const end = mark === 'the end of an item' ? at + 1 : at;
      this.#cut(mark, chunk.subarray(start, end));
      start = end;
    }
    const open = this.isInItem ? this.#item : this.#rest;
    open.add(chunk, start, chunk.length);
  }

  #cut(mark: Mark, before: Buffer): void {
    if (mark === 'the end of an item') {
      this.#item.add(before, 0, before.length);
      this.#onItem(this.#item.bytes);
      this.#item.clear();
      this.#rest.add(placeholder, 0, placeholder.length);
      return;
    }
    this.#rest.add(before, 0, before.length);
    if (mark === 'a list')
      this.#isInItems = this.#key.test(
        this.#rest.bytes.toString('latin1', this.#rest.bytes.length - keyBytes),
      );
  }

  #read(code: number): Mark {
    if (this.#isInString) {
      this.#readInString(code);
      return undefined;
    }
    if (code === quote) this.#isInString = true;
    this.#depth += deeper.get(code) ?? 0;
    return this.#markAt(code);
  }

  #readInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }

  #markAt(code: number): Mark {
    if (code === openList && this.#depth === depth.list) return 'a list';
    if (!this.#isInItems) return undefined;
    if (code === openObject && this.#depth === depth.item) return 'an item';
    if (this.#depth < depth.list) this.#isInItems = false;
    if (this.#depth !== depth.list) return undefined;
    return code === closeObject ? 'the end of an item' : undefined;
  }
}
