import { BinaryReader } from '@bufbuild/protobuf/wire';

/** A power of two. */
const slots = 4096;
const maxShared = 64;
const asciiLimit = 0x80;

/** Short ASCII strings seen lately: most of an object are the keys, kinds and types of the one before. */
export class RecentStrings {
  readonly #recent = new Array<string>(slots).fill('');
  /** Hashes of what came last: only what comes again is remembered, as names and UIDs do not. */
  readonly #seen = new Int32Array(slots);

  /** The string in the bytes from `start` to `end`, without making a new one where it is known. */
  at(bytes: Buffer, start: number, end: number): string {
    const hash = end - start > maxShared ? undefined : asciiHash(bytes, start, end);
    if (hash === undefined) return bytes.toString('utf8', start, end);
    const slot = (hash ^ (hash >>> 16)) & (slots - 1);
    const known = this.#recent[slot] ?? '';
    if (known.length === end - start && isSame(known, bytes, start)) return known;
    const text = bytes.toString('latin1', start, end);
    if (this.#seen[slot] === hash) this.#recent[slot] = text;
    this.#seen[slot] = hash;
    return text;
  }
}

/** Reads strings through a table: the library makes an array and a string of each one, and most are dropped at once. */
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
}

/** FNV-1a; undefined when a byte is not ASCII. */
function asciiHash(bytes: Buffer, start: number, end: number): number | undefined {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i += 1) {
    const byte = bytes[i] ?? asciiLimit;
    if (byte >= asciiLimit) return undefined;
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash;
}

function isSame(text: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) !== bytes[start + i]) return false;
  }
  return true;
}
