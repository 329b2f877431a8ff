import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { boundedUtf8 } from '../runtime/bounds.ts';

/** A power of two. */
const slots = 4096;
const maxShared = 64;
/** Longer strings are hashed by four to eight of their bytes. */
const sampleBits = 3;
const asciiLimit = 0x80;
const nothing: Uint8Array = new Uint8Array();

/** Recently decoded short ASCII strings: most strings of an object equal those of the object before. */
export class RecentStrings {
  readonly #recent = new Array<string>(slots).fill('');
  /** Last hash of each slot: a string is kept when it repeats, which names and UIDs do not. */
  readonly #seen = new Int32Array(slots);

  /** The string in the bytes from `start` to `end`, bounded; a recent one is returned without allocating. */
  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > maxShared) return boundedUtf8(bytes, start, end);
    const hash = sampleHash(bytes, start, end);
    const slot = (hash ^ (hash >>> 16)) & (slots - 1);
    const known = this.#recent[slot] ?? '';
    if (known.length === length && isSame(known, bytes, start)) return known;
    const text = bytes.toString('utf8', start, end);
    // As long as its bytes: ASCII, so its characters can be compared with bytes.
    if (this.#seen[slot] === hash && text.length === length) this.#recent[slot] = text;
    this.#seen[slot] = hash;
    return text;
  }
}

/** A message of `gen/`. */
export interface Decoder<M> {
  decode(reader: BinaryReader): M;
}

/** Decodes `bytes` as one message. Throws if the message ends before or after them. */
export function decodeWhole<M>(message: Decoder<M>, bytes: Buffer, strings: RecentStrings): M {
  const reader = new BoundedReader(bytes, strings);
  const decoded = message.decode(reader);
  if (reader.pos !== bytes.length) throw new RangeError('the message does not end with its bytes');
  return decoded;
}

/** Cuts strings at `bounds.text` while it reads them, and reuses recent ones: the library allocates an array and a string for each. */
class BoundedReader extends BinaryReader {
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
    return this.#strings.read(this.#bytes, start, this.pos);
  }

  /** As the library, but allocates no view of the skipped bytes, which are nearly all of a pod. */
  override skip(wireType: WireType): Uint8Array {
    if (wireType !== WireType.Varint && wireType !== WireType.LengthDelimited) return super.skip(wireType);
    const value = this.uint32();
    if (wireType === WireType.LengthDelimited) this.pos += value;
    if (this.pos > this.len) throw new RangeError('field ends after its message');
    return nothing;
  }

  /**
   * As the library, but clamps to what a number holds exactly. The generated decoders throw on more, so that one pod with an absurd grace
   * period would make every list fail. Up to five bytes, as times have, need no BigInt.
   */
  override int64(): bigint | string {
    const number = shortVarint(this.#bytes, this.pos);
    if (number === undefined) return String(nearestNumber(BigInt(super.int64())));
    this.uint32();
    return String(number);
  }
}

/** The exact number closest to `value`. */
function nearestNumber(value: bigint): number {
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

/** FNV-1a of the length and a sample of the bytes. */
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
