import { BinaryReader } from '@bufbuild/protobuf/wire';
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
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError('string ends after its message');
    return boundedUtf8(this.#bytes, start, this.pos, this.#maxTextBytes);
  }
}
