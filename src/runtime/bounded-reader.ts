import { BinaryReader } from '@bufbuild/protobuf/wire';
import { boundedUtf8 } from './bounds.ts';

/** A protobuf reader that cuts each string at `bounds.text`: one message may have 16 MB of annotations. */
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
    if (this.pos > this.len) throw new RangeError('string ends after its message');
    return boundedUtf8(this.#bytes, start, this.pos);
  }
}
