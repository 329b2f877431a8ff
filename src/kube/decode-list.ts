import { BinaryReader } from '@bufbuild/protobuf/wire';
import { asList, asObject, asText } from './decode-json.ts';
import { isProtobuf, parseJson } from './decode-status.ts';
import type { Codec, Page } from './decode.ts';
import { MalformedError } from './frames.ts';
import { ListMeta, TypeMeta } from './gen/meta.ts';

/** Field numbers of runtime.Unknown and, the same for every kind, of a list. */
const envelopeField = { typeMeta: 1, raw: 2 };
const listField = { metadata: 1, items: 2 };
const magicBytes = 4;
const lengthDelimited = 2;
const longestVarintBytes = 10;
const nothing: Buffer = Buffer.alloc(0);

/**
 * Reads the answer to a list while it arrives, protobuf or JSON as the server chose.
 * Of protobuf no more than one object is ever held: whole pages leave a heap that malloc does not give back.
 */
export class ListDecoder<T> {
  readonly #codec: Codec<T>;
  readonly #items: T[] = [];
  #rest = nothing;
  #isProtobuf: boolean | undefined;
  #meta: ListMeta | undefined;
  /** Bytes of the list that are still to come; undefined outside of it. */
  #listBytes: number | undefined;

  constructor(codec: Codec<T>) {
    this.#codec = codec;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = bytes;
    if (this.#isProtobuf === undefined && bytes.length >= magicBytes) {
      this.#isProtobuf = isProtobuf(bytes);
      if (this.#isProtobuf) this.#rest = bytes.subarray(magicBytes);
    }
    if (this.#isProtobuf === true) this.#readFields(this.#rest);
  }

  /** The page, once all of it was pushed. */
  finish(): Page<T> {
    const page =
      this.#isProtobuf === true ? this.#protobufPage() : jsonPage(parseJson(this.#rest), this.#codec);
    if (page.resourceVersion === '') throw new MalformedError('list without metadata.resourceVersion');
    return page;
  }

  #protobufPage(): Page<T> {
    if (this.#rest.length > 0 || (this.#listBytes ?? 0) > 0) throw new MalformedError('list ended early');
    const { resourceVersion = '', continue: continueToken = '' } = this.#meta ?? {};
    return { items: this.#items, resourceVersion, continueToken };
  }

  #readFields(bytes: Buffer): void {
    const reader = new BinaryReader(bytes);
    let donePos = 0;
    while (this.#readField(reader)) donePos = reader.pos;
    // A copy, so that the beginning of an object does not hold the whole chunk.
    this.#rest = donePos === bytes.length ? nothing : Buffer.from(bytes.subarray(donePos));
  }

  /** False when the field is not complete yet. */
  #readField(reader: BinaryReader): boolean {
    const start = reader.pos;
    const header = fieldHeader(reader);
    if (header === undefined) return false;
    const isList = this.#listBytes !== undefined && this.#listBytes > 0;
    if (!isList && header.field === envelopeField.raw) {
      this.#listBytes = header.length;
      return true;
    }
    if (reader.pos + header.length > reader.len) return false;
    const end = reader.pos + header.length;
    if (isList) this.#readListField(header, reader);
    else if (header.field === envelopeField.typeMeta) expectList(TypeMeta.decode(reader, header.length).kind);
    reader.pos = end;
    if (isList) this.#listBytes -= end - start;
    return true;
  }

  #readListField({ field, length }: FieldHeader, reader: BinaryReader): void {
    if (field === listField.metadata) this.#meta = ListMeta.decode(reader, length);
    else if (field === listField.items) this.#items.push(this.#codec.fromProtobuf(reader, length));
  }
}

interface FieldHeader {
  readonly field: number;
  readonly length: number;
}
