const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Depth of the list in the summary's field `pods`. */
const podsDepth = 2;
/** Enough to recognise the name of a list at its opening bracket, with room for indentation. */
const nameBytes = 64;

/**
 * Splits a stats summary while it arrives and parses each pod by itself: a megabyte of text in one piece, and several megabytes of objects,
 * would enlarge the heap permanently. Throws SyntaxError for text that is not JSON.
 */
export class SummaryScanner {
  readonly #onPod: (pod: unknown) => void;
  /** The summary without its pods. */
  #envelope: Buffer[] = [];
  /** The incomplete pod. */
  #held: Buffer[] = [];
  #depth = 0;
  #inPods = false;
  #inString = false;
  #isEscaped = false;

  constructor(onPod: (pod: unknown) => void) {
    this.#onPod = onPod;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#isText(byte)) continue;
      if (byte === openBrace || byte === openBracket) from = this.#open(chunk, from, at);
      else if (byte === closeBrace || byte === closeBracket) from = this.#close(chunk, from, at);
    }
    this.#keep(chunk.subarray(from));
  }

  /** Returns the summary without its pods, after the last `push`. */
  finish(): unknown {
    return JSON.parse(Buffer.concat(this.#envelope).toString());
  }

  get #isInPod(): boolean {
    return this.#inPods && this.#depth > podsDepth;
  }

  /** Keeps the rest of a chunk, as a copy: a view would hold the whole chunk. Commas between the pods are dropped. */
  #keep(rest: Buffer): void {
    if (this.#isInPod) this.#held.push(Buffer.from(rest));
    else if (!this.#inPods) this.#envelope.push(Buffer.from(rest));
  }

  /** True inside a string, and for its quotes. */
  #isText(byte: number): boolean {
    if (!this.#inString) {
      this.#inString = byte === quote;
      return this.#inString;
    }
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#inString = false;
    return true;
  }

  #open(chunk: Buffer, from: number, at: number): number {
    this.#depth += 1;
    if (this.#inPods) return this.#depth === podsDepth + 1 ? at : from;
    if (this.#depth !== podsDepth || chunk[at] !== openBracket) return from;
    this.#keep(chunk.subarray(from, at + 1));
    const end = Buffer.concat(this.#envelope).subarray(-nameBytes).toString('latin1');
    this.#inPods = /"pods"\s*:\s*\[$/.test(end);
    return at + 1;
  }

  #close(chunk: Buffer, from: number, at: number): number {
    this.#depth -= 1;
    if (this.#depth < podsDepth) this.#inPods = false;
    if (!this.#inPods || this.#depth !== podsDepth) return from;
    const last = chunk.subarray(from, at + 1);
    const pod = this.#held.length === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#onPod(JSON.parse(pod.toString()));
    return at + 1;
  }
}
