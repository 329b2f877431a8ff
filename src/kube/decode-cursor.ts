import { boundedUtf8 } from '../runtime/bounds.ts';
import { nearestNumber, type RecentStrings } from './decode-reader.ts';

/** The low bits of a tag. */
const wire = { varint: 0, fixed64: 1, lengthDelimited: 2, startGroup: 3, endGroup: 4, fixed32: 5 };
const maxVarintBytes = 10;
const more = 0x80;
/** Field numbers begin with 1. */
const leastTag = 8;

/**
 * Walks through the fields of a message in place: nothing is made of what is not read, not even a reader for each message.
 * Throws a RangeError where the message ends early, or is none.
 */
export class Cursor {
  readonly #strings: RecentStrings;
  #bytes: Buffer = Buffer.alloc(0);
  #pos = 0;

  constructor(strings: RecentStrings) {
    this.#strings = strings;
  }

  /** Reads a message as `fields` say. */
  readMessage<T>(bytes: Buffer, fields: Fields<T>, into: T): void {
    this.#bytes = bytes;
    this.#pos = 0;
    this.#readFields(bytes.length, fields, into);
  }

  /** Reads the message in the field that the cursor is at. */
  readNested<T>(fields: Fields<T>, into: T): void {
    this.#readFields(this.#enter(), fields, into);
  }

  /** Of what is no exact number, the nearest that is. */
  int64(): number {
    const start = this.#pos;
    const value = this.#varint();
    if (value <= Number.MAX_SAFE_INTEGER) return value;
    return nearestNumber(BigInt.asIntN(64, bits(this.#bytes.subarray(start, this.#pos))));
  }

  bool(): boolean {
    return this.#varint() !== 0;
  }

  /** A string that others have, too. */
  shared(): string {
    const end = this.#enter();
    const text = this.#strings.at(this.#bytes, this.#pos, end);
    this.#pos = end;
    return text;
  }

  /** A string that no other has; cut when it is absurdly long. */
  text(): string {
    const end = this.#enter();
    const text = boundedUtf8(this.#bytes, this.#pos, end);
    this.#pos = end;
    return text;
  }

  #readFields<T>(end: number, fields: Fields<T>, into: T): void {
    while (this.#pos < end) {
      const tag = this.#varint();
      const read = fields[tag];
      if (read === undefined) this.#skip(tag);
      else read(this, into);
    }
    if (this.#pos !== end) throw new RangeError('a field ends after its message');
  }

  #varint(): number {
    const only = this.#bytes[this.#pos];
    if (only === undefined || only >= more) return this.#longVarint();
    this.#pos += 1;
    return only;
  }

  #longVarint(): number {
    let value = 0;
    for (let i = 0, scale = 1; i < maxVarintBytes; i += 1, scale *= more) {
      const byte = this.#bytes[this.#pos];
      if (byte === undefined) break;
      this.#pos += 1;
      if (byte < more) return value + byte * scale;
      value += (byte - more) * scale;
    }
    throw new RangeError('a number ends after its message');
  }

  #skip(tag: number): void {
    const type = tag % 8;
    if (tag < leastTag) throw new RangeError(`no field begins with ${tag}`);
    if (type === wire.varint) this.#varint();
    else if (type === wire.lengthDelimited) this.#pos = this.#enter();
    else if (type === wire.fixed64) this.#pos = this.#upTo(this.#pos + 8);
    else if (type === wire.fixed32) this.#pos = this.#upTo(this.#pos + 4);
    else if (type === wire.startGroup) this.#skipGroup();
    else throw new RangeError(`no field begins with ${tag}`);
  }

  #skipGroup(): void {
    for (let tag = this.#varint(); tag % 8 !== wire.endGroup; tag = this.#varint()) this.#skip(tag);
  }

  /** Past the length of what begins here; returns where that ends. */
  #enter(): number {
    const length = this.#varint();
    return this.#upTo(this.#pos + length);
  }

  #upTo(end: number): number {
    if (end > this.#bytes.length) throw new RangeError('a field ends after its message');
    return end;
  }
}

/** All that is in a varint. */
const bits = (varint: Uint8Array): bigint =>
  varint.reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & (more - 1)), 0n);

/** How the fields of a message are read, by tag; the others are passed over. */
type Fields<T> = readonly (((cursor: Cursor, into: T) => void) | undefined)[];

/** Tag of a field with text or a message in it. */
export const content = (field: number): number => field * 8 + wire.lengthDelimited;

/** Tag of a field with a number in it. */
export const number = (field: number): number => field * 8 + wire.varint;

/** Dense: an array is looked up faster than a table. */
export function fields<T>(byTag: Readonly<Record<number, (cursor: Cursor, into: T) => void>>): Fields<T> {
  const last = Math.max(...Object.keys(byTag).map(Number));
  return Array.from({ length: last + 1 }, (_, tag) => byTag[tag]);
}
