import { checkBodySize } from './http-body.ts';

/** A whole answer of an HTTP/1.1 server; a long body of a success is left out. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; of several of one name, as HTTP has it, a list with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The connection may carry another request. */
  readonly isReusable: boolean;
}

type State = 'head' | 'sized' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailers' | 'untilClose' | 'done';

/** Node's own limit for all headers together; the API server sends a few hundred bytes. */
const maxHeadBytes = 16 * 1024;
/** Far more than an ordinary pod's metadata. */
const maxSuccessBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

/** Reads one answer (RFC 9112) from pieces as they come; throws for what is none, after which the connection is of no use. */
export class AnswerReader {
  readonly #what: string;
  readonly #pieces: Buffer[] = [];
  #state: State = 'head';
  #unread: Buffer = nothing;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #mayStayOpen = false;
  /** Of the body, or of the chunk of it that is being read. */
  #leftBytes = 0;
  #bodyBytes = 0;

  /** `what`: the request, for messages. */
  constructor(what: string) {
    this.#what = what;
  }

  /** The answer, once this was the last piece of it. */
  push(piece: Buffer): Answer | undefined {
    this.#unread = this.#unread.length === 0 ? piece : Buffer.concat([this.#unread, piece]);
    while (this.#step());
    return this.#state === 'done' ? this.#answer() : undefined;
  }

  /** The server has closed: undefined when that was too early. */
  end(): Answer | undefined {
    return this.#state === 'untilClose' ? this.#answer() : undefined;
  }

  #answer(): Answer {
    return {
      status: this.#status,
      headers: this.#headers,
      body: this.#pieces.length === 1 ? (this.#pieces[0] ?? nothing) : Buffer.concat(this.#pieces),
      isReusable: this.#mayStayOpen && this.#unread.length === 0,
    };
  }

  /** False = more must come first, or there is no more. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'sized':
      case 'chunk':
      case 'untilClose':
        return this.#readBody();
      case 'chunkSize':
        return this.#readLine((line) => {
          this.#beginChunk(line);
        });
      case 'chunkEnd':
        return this.#readLine((line) => {
          if (line !== '') throw new Error('the answer has a chunk of another length than it says');
          this.#state = 'chunkSize';
        });
      case 'trailers':
        return this.#readLine((line) => {
          if (line === '') this.#state = 'done';
        });
      case 'done':
        return false;
    }
  }

  #readHead(): boolean {
    const text = this.#takeUntil('\r\n\r\n');
    if (text === undefined) return false;
    const [first = '', ...lines] = text.split('\r\n');
    const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
    if (status === undefined) throw new Error('the answer is not HTTP/1.1');
    if (status === '101') throw new Error('the answer is another protocol');
    // Of the others that begin so, the answer proper is still to come.
    if (status.startsWith('1')) return true;
    this.#status = Number(status);
    this.#headers = parsedHeaders(lines);
    this.#mayStayOpen = minor === '1' && !/\bclose\b/i.test(this.#headers['connection'] ?? '');
    this.#state = this.#framing();
    return true;
  }

  /** How the end of the body is told. */
  #framing(): State {
    if (this.#status === 204 || this.#status === 304) return 'done';
    const { 'transfer-encoding': encoding, 'content-length': length } = this.#headers;
    if (encoding === undefined) return length === undefined ? this.#untilClose() : this.#sized(length);
    if (length !== undefined) throw new Error('the answer has a length and chunks');
    if (encoding.toLowerCase() === 'chunked') return 'chunkSize';
    throw new Error(`the answer has an unknown transfer encoding, ${encoding}`);
  }

  #untilClose(): State {
    this.#mayStayOpen = false;
    this.#leftBytes = Infinity;
    return 'untilClose';
  }

  #sized(length: string): State {
    if (!/^\d{1,15}$/.test(length)) throw new Error(`the answer has no valid length, ${length}`);
    this.#leftBytes = Number(length);
    return this.#leftBytes === 0 ? 'done' : 'sized';
  }

  #beginChunk(line: string): void {
    const [, size] = /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(line) ?? [];
    if (size === undefined) throw new Error('the answer has a chunk without a length');
    this.#leftBytes = Number.parseInt(size, 16);
    this.#state = this.#leftBytes === 0 ? 'trailers' : 'chunk';
  }

  #readBody(): boolean {
    const piece = this.#unread.subarray(0, this.#leftBytes);
    if (piece.length === 0) return false;
    this.#unread = this.#unread.subarray(piece.length);
    this.#leftBytes -= piece.length;
    this.#bodyBytes += piece.length;
    checkBodySize(this.#bodyBytes, this.#what);
    if (this.#isOfUse()) this.#pieces.push(piece);
    else this.#pieces.length = 0;
    if (this.#leftBytes === 0) this.#state = this.#state === 'chunk' ? 'chunkEnd' : 'done';
    return true;
  }

  /** What was deleted comes along, up to 1.5 MB of it, and 64 deletes are under way at a time: nobody reads it. */
  #isOfUse(): boolean {
    return this.#status >= 300 || this.#bodyBytes <= maxSuccessBytes;
  }

  #readLine(read: (line: string) => void): boolean {
    const line = this.#takeUntil('\r\n');
    if (line === undefined) return false;
    read(line);
    return true;
  }

  #takeUntil(mark: string): string | undefined {
    const end = this.#unread.indexOf(mark);
    if ((end < 0 ? this.#unread.length : end) > maxHeadBytes)
      throw new Error('the answer has a line without an end');
    if (end < 0) return undefined;
    const text = this.#unread.toString('latin1', 0, end);
    this.#unread = this.#unread.subarray(end + mark.length);
    return text;
  }
}

/** RFC 9110: a token. One that is none may hide a length from us that somebody on the way has seen. */
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

function parsedHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!headerName.test(name)) throw new Error('the answer has a header without a name');
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
