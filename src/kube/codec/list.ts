import { isObject } from '../../api/json.ts';
import { asList, asObject, asText, parseJson } from './json.ts';
import { isProtobuf, magicBytes, MalformedError } from './frames.ts';
import { ListMeta, TypeMeta } from '../gen/meta.ts';
import { PartialBytes } from './partial-bytes.ts';
import { JsonItems } from './json-items.ts';

/** Reads objects of one kind from either wire form. Returns the object of `known` if it is in the same state. */
export interface Codec<T> {
  fromProtobuf(message: Buffer, known?: ReadonlyMap<string, T>): T;
  fromJson(json: unknown, known?: ReadonlyMap<string, T>): T;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Token of the next page; '' on the last one. */
  readonly continueToken: string;
}

/** The field numbers of runtime.Unknown and of every list kind. */
const envelopeField = { typeMeta: 1, raw: 2 };
const listField = { metadata: 1, items: 2 };

const lengthDelimited = 2;

/**
 * Reads the response to a list while it arrives: protobuf or JSON, whichever the server sends.
 * Holds one object at a time: malloc would not return the memory of whole pages.
 */
export class ListDecoder<T> {
  readonly #codec: Codec<T>;
  readonly #items: T[] = [];
  readonly #unread = new PartialBytes();
  readonly #json: JsonItems;
  #isProtobuf: boolean | undefined;
  #meta: ListMeta | undefined;
  #listBytes = 0;
  readonly #partial = new PartialBytes();

  constructor(codec: Codec<T>) {
    this.#codec = codec;
    this.#json = new JsonItems('items', (item) => this.#items.push(codec.fromJson(parseJson(item))));
  }

  /** The caller may reuse the memory of the chunk afterwards. */
  push(chunk: Buffer): void {
    if (this.#isProtobuf === undefined) this.#begin(chunk);
    else if (this.#isProtobuf) this.#readProtobuf(chunk);
    else this.#json.push(chunk);
  }

  finish(): Page<T> {
    const page = this.#isProtobuf === true ? this.#page() : this.#jsonPage();
    if (page.resourceVersion === '') throw new MalformedError('list without metadata.resourceVersion');
    return page;
  }

  /** Mostly the first chunk is long enough to show the form. */
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
    if (asList(list['items']).some((item) => !isObject(item)))
      throw new MalformedError('a list with an item that is not an object');
    return {
      items: this.#items,
      resourceVersion: asText(meta['resourceVersion']),
      continueToken: asText(meta['continue']),
    };
  }

  #page(): Page<T> {
    if (this.#partial.bytes.length > 0 || this.#listBytes > 0) throw new MalformedError('list ended early');
    const { resourceVersion = '', continue: continueToken = '' } = this.#meta ?? {};
    return { items: this.#items, resourceVersion, continueToken };
  }

  #readProtobuf(chunk: Buffer): void {
    const bytes = this.#partial.bytes.length === 0 ? chunk : this.#finishPartial(chunk);
    const done = this.#readFields(bytes);
    this.#partial.add(bytes, done, bytes.length);
  }

  /** Adds to the partial bytes until they are one field, and reads it. Returns the rest of the chunk. */
  #finishPartial(chunk: Buffer): Buffer {
    let at = 0;
    while (this.#partial.bytes.length > 0) {
      const missing = this.#missing(this.#partial.bytes);
      if (missing > 0 && at === chunk.length) break;
      const end = Math.min(chunk.length, at + missing);
      this.#partial.add(chunk, at, end);
      at = end;
      if (this.#readFields(this.#partial.bytes) > 0) this.#partial.clear();
    }
    return chunk.subarray(at);
  }

  /** The least number of bytes that the first field lacks. */
  #missing(bytes: Buffer): number {
    const field = nextField(bytes, 0);
    return field === undefined || this.#isRaw(field) ? 1 : field.end - bytes.length;
  }

  /** Reads the complete fields. Returns the position of the first incomplete one. */
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
  readonly start: number;
  readonly end: number;
}

/** Returns the field that begins at `pos`, even if its content is incomplete; undefined if its length is. */
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
  if (!kind.endsWith('List')) throw new MalformedError(`expected a list, got kind ${kind}`);
}
