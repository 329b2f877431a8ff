import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { bounds, boundedUtf8 } from './bounds.ts';

/** A protobuf reader that cuts each string, at `bounds.text` by default: one message may have 16 MB of annotations. */
export class BoundedReader extends BinaryReader {
  readonly #bytes: Buffer;
  readonly #maxTextBytes: number;

  constructor({ buffer, byteOffset, length }: Uint8Array, maxTextBytes: number = bounds.text) {
    const bytes = Buffer.from(buffer, byteOffset, length);
    super(bytes);
    this.#bytes = bytes;
    this.#maxTextBytes = maxTextBytes;
  }

  override string(): string {
    return boundedUtf8(this.#bytes, this.#pass(), this.pos, this.#maxTextBytes);
  }

  /** Without a view of the bytes: most fields of an object are skipped, and no decoder reads what this returns. */
  override skip(wireType: WireType, fieldNo?: number): Uint8Array {
    if (wireType !== WireType.LengthDelimited) return super.skip(wireType, fieldNo);
    this.#pass();
    return nothing;
  }

  /** Moves behind a field and its length; returns where the field begins. */
  #pass(): number {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError('a field ends after its message');
    return start;
  }
}

const nothing = new Uint8Array();
