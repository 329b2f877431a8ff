import { BinaryReader } from '@bufbuild/protobuf/wire';
import { boundedUtf8 } from '../runtime/bounds.ts';

/** Reads a message of which no text is longer than `bounds.text`: a list of sandboxes may be 16 MB of their pods' annotations. */
export class BoundedReader extends BinaryReader {
  readonly #bytes: Buffer;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    const bytes = Buffer.from(buffer, byteOffset, length);
    super(bytes);
    this.#bytes = bytes;
  }

  override string(): string {
    const length = this.uint32();
    const start = this.pos;
    this.pos += length;
    if (this.pos > this.len) throw new RangeError('a text ends after its message');
    return boundedUtf8(this.#bytes, start, this.pos);
  }
}
