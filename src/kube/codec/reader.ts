import type { BinaryReader } from '@bufbuild/protobuf/wire';
import { BoundedReader } from '../../runtime/bounded-reader.ts';

/** A message of `gen/`. */
export interface Decoder<M> {
  decode(reader: BinaryReader): M;
}

/** Decodes `bytes` as one message. Throws if the message ends before or after them. */
export function decodeWhole<M>(message: Decoder<M>, bytes: Buffer): M {
  const reader = new ClampingReader(bytes);
  const decoded = message.decode(reader);
  if (reader.pos !== bytes.length) throw new RangeError('the message does not end with its bytes');
  return decoded;
}

/** Integers are cut to what a number holds, too. */
class ClampingReader extends BoundedReader {
  /** The generated decoders throw on more than a number holds exactly: one pod with an absurd grace period would make every list fail. */
  override int64(): bigint | string {
    const value = BigInt(super.int64());
    return value > maxExact ? maxExact : value < -maxExact ? -maxExact : value;
  }
}

const maxExact = BigInt(Number.MAX_SAFE_INTEGER);
