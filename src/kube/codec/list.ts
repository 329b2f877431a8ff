import { asList, asObject, asText } from './json.ts';
import { isProtobuf, magicBytes, parseJson } from './status.ts';
import { MalformedError } from './frames.ts';
import { ListMeta, TypeMeta } from '../gen/meta.ts';
import { HeldBytes } from './held-bytes.ts';
import { JsonItems } from './json-items.ts';

/** How one kind is read from either wire form. An object that is in `known`, in the same state, is not made anew. */
export interface Codec<T> {
  fromProtobuf(message: Buffer, known?: ReadonlyMap<string, T>): T;
  fromJson(json: unknown, known?: ReadonlyMap<string, T>): T;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Token of the next page; '' on the last one. */
  readonly continueToken: string;
}

/** Field numbers of runtime.Unknown and, the same for every kind, of a list. */
const envelopeField = { typeMeta: 1, raw: 2 };
const listField = { metadata: 1, items: 2 };

const lengthDelimited = 2;

/**
 * Reads the answer to a list while it arrives, protobuf or JSON as the server chose.
 * No more than one object is held: whole pages would leave a heap that malloc does not give back.
 */
export class ListDecoder<T> {
  readonly #codec: Codec<T>;
  readonly #items: T[] = [];
  /** What came before its form was known. */
  readonly #unread = new HeldBytes();
  readonly #json: JsonItems;
  #isProtobuf: boolean | undefined;
  #meta: ListMeta | undefined;
  /** Bytes of the list in the envelope that are still to come. */
  #listBytes = 0;
  readonly #held = new HeldBytes();

  constructor(codec: Codec<T>) {
    this.#codec = codec;
    this.#json = new JsonItems((item) => this.#items.push(codec.fromJson(parseJson(item))));
  }

  /** Keeps nothing of the chunk itself: its memory may be used again. */
  push(chunk: Buffer): void {
    if (this.#isProtobuf === undefined) this.#begin(chunk);
    else if (this.#isProtobuf) this.#readProtobuf(chunk);
    else this.#json.push(chunk);
  }

  /** The page, once all of it was pushed. */
  finish(): Page<T> {
    const page = this.#isProtobuf === true ? this.#page() : this.#jsonPage();
    if (page.resourceVersion === '') throw new MalformedError('list without metadata.resourceVersion');
    return page;
  }

  /** The first chunk mostly tells the form. */
  #begin(chunk: Buffer): void {
    this.#unread.add(chunk, 0, chunk.length);
    const { bytes } = this.#unread;
    if (bytes.length < magicBytes) return;
    this.#isProtobuf = isProtobuf(bytes);
    if (this.#isProtobuf) this.#readProtobuf(bytes.subarray(magicBytes));
    else this.#json.push(bytes);
    this.#unread.clear();
  }

  #jsonPage(): Page<T> {
    const list = asObject(parseJson(this.#json.rest));
    expectList(asText(list['kind']));
    const meta = asObject(list['metadata']);
    if (asList(list['items']).length > 0) throw new MalformedError('a list with an item that is no object');
    return {
      items: this.#items,
      resourceVersion: asText(meta['resourceVersion']),
      continueToken: asText(meta['continue']),
    };
  }

  #page(): Page<T> {
    if (this.#held.bytes.length > 0 || this.#listBytes > 0) throw new MalformedError('list ended early');
    const { resourceVersion = '', continue: continueToken = '' } = this.#meta ?? {};
    return { items: this.#items, resourceVersion, continueToken };
  }

  #readProtobuf(chunk: Buffer): void {
    const bytes = this.#held.bytes.length === 0 ? chunk : this.#finishHeld(chunk);
    const done = this.#readFields(bytes);
    this.#held.add(bytes, done, bytes.length);
  }

  /** Adds to what is held until it is one field, and reads that; returns what is left of the chunk. */
  #finishHeld(chunk: Buffer): Buffer {
    let at = 0;
    while (this.#held.bytes.length > 0) {
      const missing = this.#missing(this.#held.bytes);
      if (missing > 0 && at === chunk.length) break;
      const end = Math.min(chunk.length, at + missing);
      this.#held.add(chunk, at, end);
      at = end;
      if (this.#readFields(this.#held.bytes) > 0) this.#held.clear();
    }
    return chunk.subarray(at);
  }

  /** How many bytes the field at the beginning lacks at least. */
  #missing(bytes: Buffer): number {
    const field = nextField(bytes, 0);
    return field === undefined || this.#isRaw(field) ? 1 : field.end - bytes.length;
  }

  /** Reads the fields that are complete; returns where the first other one begins. */
  #readFields(bytes: Buffer): number {
    let field = nextField(bytes, 0);
    let done = 0;
    while (field !== undefined && (field.end <= bytes.length || this.#isRaw(field))) {
      if (this.#isRaw(field)) done = this.#enterList(field);
      else done = this.#readField(field, bytes.subarray(field.start, field.end));
      field = nextField(bytes, done);
    }
    return done;
  }

  #isRaw({ number }: Field): boolean {
    return this.#listBytes === 0 && number === envelopeField.raw;
  }

  #enterList({ start, end }: Field): number {
    this.#listBytes = end - start;
    return start;
  }

  #readField({ number, pos, end }: Field, content: Buffer): number {
    if (this.#listBytes > 0) {
      this.#listBytes -= end - pos;
      this.#readListField(number, content);
    } else if (number === envelopeField.typeMeta) {
      expectList(TypeMeta.decode(content).kind);
    }
    return end;
  }

  #readListField(number: number, content: Buffer): void {
    if (number === listField.metadata) this.#meta = ListMeta.decode(content);
    else if (number === listField.items) this.#items.push(this.#codec.fromProtobuf(content));
  }
}

interface Field {
  readonly number: number;
  readonly pos: number;
  /** Of its content. */
  readonly start: number;
  readonly end: number;
}

/** The field that begins at `pos`, of which the content need not be there yet; undefined when not even its length is. */
function nextField(bytes: Buffer, pos: number): Field | undefined {
  const tag = varint(bytes, pos);
  if (tag === undefined) return undefined;
  const length = varint(bytes, tag.end);
  if (length === undefined) return undefined;
  if ((tag.value & 7) !== lengthDelimited) throw new MalformedError('not a Kubernetes list');
  return { number: tag.value >>> 3, pos, start: length.end, end: length.end + length.value };
}

function varint(bytes: Buffer, pos: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 5; i += 1) {
    const byte = bytes[pos + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: pos + i + 1 };
  }
  throw new MalformedError('length of more than 32 bits');
}

function expectList(kind: string): void {
  if (!kind.endsWith('List')) throw new MalformedError(`a list was asked for, got kind ${kind}`);
}
