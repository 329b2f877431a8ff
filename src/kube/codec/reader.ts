import { BinaryReader } from '@bufbuild/protobuf/wire';
import { boundedUtf8 } from '../../runtime/bounds.ts';

/** A message of `gen/`. */
export interface Decoder<M> {
  decode(reader: BinaryReader): M;
}

/** Decodes `bytes` as one message. Throws if the message ends before or after them. */
export function decodeWhole<M>(message: Decoder<M>, bytes: Buffer): M {
  const reader = new BoundedReader(bytes);
  const decoded = message.decode(reader);
  if (reader.pos !== bytes.length) throw new RangeError('the message does not end with its bytes');
  return decoded;
}

/** The library's reader, but strings are cut at `bounds.text` while it reads them, and integers are cut to what a number holds. */
class BoundedReader extends BinaryReader {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
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

  /** The generated decoders throw on more than a number holds exactly: one pod with an absurd grace period would make every list fail. */
  override int64(): bigint | string {
    const value = BigInt(super.int64());
    return value > maxExact ? maxExact : value < -maxExact ? -maxExact : value;
  }
}

const maxExact = BigInt(Number.MAX_SAFE_INTEGER);
