import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { BoundedReader } from '../../runtime/bounded-reader.ts';
import { bounds } from '../../runtime/bounds.ts';

export interface Decoder<M> {
  decode(reader: BinaryReader): M;
}

/** Decodes `bytes` as one message, and cuts its texts. Throws if the message ends before or after them. */
export function decodeWhole<M>(message: Decoder<M>, bytes: Buffer, maxTextBytes: number = bounds.text): M {
  const reader = new ClampingReader(bytes, maxTextBytes);
  const decoded = message.decode(reader);
  if (reader.pos !== bytes.length) throw new RangeError('the message does not end with its bytes');
  return decoded;
}

/** Also limits integers to the range that a number holds exactly. */
class ClampingReader extends BoundedReader {
  /** The generated decoders throw on larger integers: one pod with an absurd grace period would make every list fail. */
  override int64(): bigint | string {
    const value = BigInt(super.int64());
    return value > maxExact ? maxExact : value < -maxExact ? -maxExact : value;
  }
}

const maxExact = BigInt(Number.MAX_SAFE_INTEGER);
