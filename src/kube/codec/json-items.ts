import { PartialBytes } from './partial-bytes.ts';

const [quote, backslash] = [0x22, 0x5c];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];
/** By byte, how it changes the number of open objects and lists. */
const deeper = new Int8Array(256);
deeper[openObject] = deeper[openList] = 1;
deeper[closeObject] = deeper[closeList] = -1;
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
  readonly #key: RegExp;
  readonly #onItem: (json: Buffer) => void;
  readonly #item = new PartialBytes();
  readonly #rest = new PartialBytes();
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
    let at = 0;
    while (at < chunk.length) {
      if (this.#isInString) {
        at = this.#endOfString(chunk, at);
        continue;
      }
      const code = chunk[at] ?? 0;
      at += 1;
      if (code === quote) this.#isInString = true;
      const change = deeper[code] ?? 0;
      if (change === 0) continue;
      this.#depth += change;
      const mark = this.#markAt(code);
      if (mark === undefined) continue;
      const end = mark === 'the end of an item' ? at : at - 1;
      this.#cut(mark, chunk.subarray(start, end));
      start = end;
    }
    const open = this.isInItem ? this.#item : this.#rest;
    open.add(chunk, start, chunk.length);
  }

  /** Where the text goes on behind the string that it is in at `from`. */
  #endOfString(chunk: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    while (at < chunk.length) {
      const code = chunk[at];
      at += code === backslash ? 2 : 1;
      if (code !== quote) continue;
      this.#isInString = this.#isEscaped = false;
      return at;
    }
    this.#isEscaped = at > chunk.length;
    return at;
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

  #markAt(code: number): Mark {
    if (code === openList && this.#depth === depth.list) return 'a list';
    if (!this.#isInItems) return undefined;
    if (code === openObject && this.#depth === depth.item) return 'an item';
    if (this.#depth < depth.list) this.#isInItems = false;
    if (this.#depth !== depth.list) return undefined;
    return code === closeObject ? 'the end of an item' : undefined;
  }
}
