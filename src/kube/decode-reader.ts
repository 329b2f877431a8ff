import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { boundedUtf8 } from '../runtime/bounds.ts';

/** A power of two. */
const slots = 4096;
const maxShared = 64;
/** Four to eight bytes of a longer string are looked at. */
const sampleBits = 3;
const asciiLimit = 0x80;
const nothing: Uint8Array = new Uint8Array();

/** Short ASCII strings seen lately: most of an object are the keys, kinds and types of the one before. */
export class RecentStrings {
  readonly #recent = new Array<string>(slots).fill('');
  /** Hashes of what came last: only what comes again is remembered, as names and UIDs do not. */
  readonly #seen = new Int32Array(slots);

  /** The string in the bytes from `start` to `end`, cut when it is absurdly long, without making a new one where it is known. */
  at(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > maxShared) return boundedUtf8(bytes, start, end);
    const hash = sampleHash(bytes, start, end);
    const slot = (hash ^ (hash >>> 16)) & (slots - 1);
    const known = this.#recent[slot] ?? '';
    if (known.length === length && isSame(known, bytes, start)) return known;
    const text = bytes.toString('utf8', start, end);
    // As long as its bytes: it is ASCII, so that it can be compared with bytes.
    if (this.#seen[slot] === hash && text.length === length) this.#recent[slot] = text;
    this.#seen[slot] = hash;
    return text;
  }
}

/** Reads strings through a table, none longer than `bounds.text`: the library makes an array and a string of each one, and most are dropped at once. */
export class SharingReader extends BinaryReader {
  readonly #bytes: Buffer;
  readonly #strings: RecentStrings;

  constructor(bytes: Buffer, strings: RecentStrings) {
    super(bytes);
    this.#bytes = bytes;
    this.#strings = strings;
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError('string ends after its message');
    return this.#strings.at(this.#bytes, start, this.pos);
  }

  /** As the library, but without a view of what is skipped: nobody looks at it, and of a pod that is nearly everything. */
  override skip(wireType: WireType): Uint8Array {
    if (wireType !== WireType.Varint && wireType !== WireType.LengthDelimited) return super.skip(wireType);
    const value = this.uint32();
    if (wireType === WireType.LengthDelimited) this.pos += value;
    if (this.pos > this.len) throw new RangeError('field ends after its message');
    return nothing;
  }

  /**
   * As the library, but without a BigInt for what is no longer than a time, up to five bytes; and never more than a number holds, which
   * the decoders refuse: one pod that was deleted with an absurd grace period would be the end of every list.
   */
  override int64(): bigint | string {
    const number = shortVarint(this.#bytes, this.pos);
    if (number === undefined) return String(nearestNumber(BigInt(super.int64())));
    this.uint32();
    return String(number);
  }
}

/** Of `value`, or what comes next to it, as an exact number. */
export function nearestNumber(value: bigint): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

/** The number in a varint of up to five bytes; undefined when it is longer, as every negative one is, or cut off. */
function shortVarint(bytes: Buffer, pos: number): number | undefined {
  let value = 0;
  for (let i = 0; i < 5; i += 1) {
    const byte = bytes[pos + i] ?? asciiLimit;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value;
  }
  return undefined;
}

/** FNV-1a of the length and some of the bytes: what comes up is compared with all of them. */
function sampleHash(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5 ^ (end - start);
  const step = 1 + ((end - start) >> sampleBits);
  for (let i = end - 1; i >= start; i -= step) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return hash;
}

function isSame(text: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) !== bytes[start + i]) return false;
  }
  return true;
}
