const closeBrace = 0x7d;
/** Longer than anything that stands between two items. */
const longestGap = 64;
/** Enough to tell an item from an object inside of one in a list without line breaks. */
const headBytes = 12;

/**
 * Guesses where an item of a list ends by what stood between two before it: a search for that is many times faster than a look at each byte.
 * A guess may be wrong: only what parses as one JSON object is one, for no object is the beginning of another.
 */
export class ItemGuess {
  /** What has come since the item before; undefined = nobody wants to know. */
  #gap: number[] | undefined;
  /** From the end of one item into the next one; undefined = not known. */
  #border: Buffer | undefined;

  /** An item has ended. */
  ended(): void {
    if (this.#border === undefined) this.#gap = [];
  }

  /** A byte that is in no item. */
  passed(byte: number): void {
    if (this.#gap !== undefined && this.#gap.length <= longestGap) this.#gap.push(byte);
  }

  /** Where the item that begins at `from` may end; undefined = no idea, or not in this chunk. */
  end(chunk: Buffer, from: number): number | undefined {
    if (this.#border === undefined) {
      this.#learn(chunk.subarray(from, from + headBytes));
      return undefined;
    }
    const at = chunk.indexOf(this.#border, from);
    return at < 0 ? undefined : at + 1;
  }

  /** It was wrong: begins to learn anew. */
  forget(): void {
    this.#border = undefined;
  }

  #learn(head: Buffer): void {
    const gap = this.#gap;
    this.#gap = undefined;
    if (gap === undefined || gap.length > longestGap || head.length < headBytes) return;
    this.#border = Buffer.from([closeBrace, ...gap, ...head]);
  }
}
