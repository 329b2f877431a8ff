/** Room for most objects. */
const minBytes = 16_384;

/** The first bytes of an incomplete object, in one reused buffer: a new one for each chunk would cost as much as decoding. */
export class PartialBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #bytes: Buffer = this.#buffer;

  /** Valid until the next `add`. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Copies the bytes, so that they do not keep the whole chunk in memory. */
  add(from: Buffer, start: number, end: number): void {
    if (start === end) return;
    const { length } = this.#bytes;
    this.#grow(length + end - start);
    from.copy(this.#buffer, length, start, end);
    this.#bytes = this.#buffer.subarray(0, length + end - start);
  }

  clear(): void {
    this.#bytes = this.#buffer.subarray(0, 0);
  }

  #grow(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(minBytes, length * 2));
    this.#bytes.copy(larger);
    this.#buffer = larger;
  }
}
