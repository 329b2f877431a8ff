import { BinaryReader } from '@bufbuild/protobuf/wire';
import { asList, asObject, asText } from './decode-json.ts';
import { errorOf, isProtobuf, parseJson, statusFromJson, unwrap } from './decode-status.ts';
import { MalformedError } from './frames.ts';
import { Bookmark, ListMeta, Status, WatchEvent as WireEvent } from './gen/meta.ts';
import type { ApiError } from './transport.ts';

/** How one kind is read from either wire form. */
export interface Codec<T> {
  /** Reads one message of `length` bytes from where `reader` stands. */
  fromProtobuf(reader: BinaryReader, length: number): T;
  fromJson(json: unknown): T;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Token of the next page; '' on the last one. */
  readonly continueToken: string;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: 'ERROR'; readonly error: ApiError };

/** Field numbers, the same in every list of the API. */
const listField = { metadata: 1, items: 2 };
const initialEventsEndAnnotation = 'k8s.io/initial-events-end';

/** Reads a list answer, protobuf or JSON as the server chose. */
export function decodeList<T>(body: Uint8Array, codec: Codec<T>): Page<T> {
  return guarded('list', () => {
    const page = isProtobuf(body) ? protobufList(unwrapList(body), codec) : jsonList(parseJson(body), codec);
    if (page.resourceVersion === '') throw new MalformedError('list without metadata.resourceVersion');
    return page;
  });
}

/** Reads one frame of a watch, protobuf or JSON as the server chose. */
export function decodeWatchEvent<T>(frame: Uint8Array, codec: Codec<T>): WatchEvent<T> {
  const isJson = frame[0] === 0x7b;
  return guarded('watch frame', () =>
    isJson ? jsonEvent(parseJson(frame), codec) : protobufEvent(frame, codec),
  );
}

function guarded<R>(what: string, decode: () => R): R {
  try {
    return decode();
  } catch (err) {
    throw new MalformedError(`decoding a ${what}`, { cause: err });
  }
}

function unwrapList(body: Uint8Array): Uint8Array {
  const { raw, typeMeta } = unwrap(body);
  const kind = typeMeta?.kind ?? '';
  if (!kind.endsWith('List')) throw new MalformedError(`a list was asked for, got kind ${kind}`);
  return raw;
}

/** Item by item instead of a generated list message: the facts are made at once and the messages die young. */
function protobufList<T>(raw: Uint8Array, codec: Codec<T>): Page<T> {
  const reader = new BinaryReader(raw);
  const items: T[] = [];
  let meta: ListMeta | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === listField.metadata) meta = ListMeta.decode(reader, reader.uint32());
    else if (field === listField.items) items.push(codec.fromProtobuf(reader, reader.uint32()));
    else reader.skip(wireType);
  }
  return { items, resourceVersion: meta?.resourceVersion ?? '', continueToken: meta?.continue ?? '' };
}

function jsonList<T>(json: unknown, codec: Codec<T>): Page<T> {
  const list = asObject(json);
  const kind = asText(list['kind']);
  if (!kind.endsWith('List')) throw new MalformedError(`a list was asked for, got kind ${kind}`);
  const meta = asObject(list['metadata']);
  return {
    items: asList(list['items']).map((item) => codec.fromJson(item)),
    resourceVersion: asText(meta['resourceVersion']),
    continueToken: asText(meta['continue']),
  };
}

function protobufEvent<T>(frame: Uint8Array, codec: Codec<T>): WatchEvent<T> {
  const { type, object } = WireEvent.decode(frame);
  const raw = unwrap(object?.raw ?? new Uint8Array()).raw;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: codec.fromProtobuf(new BinaryReader(raw), raw.length) };
    case 'BOOKMARK':
      return bookmark(Bookmark.decode(raw).metadata);
    case 'ERROR':
      return { type, error: errorOf(Status.decode(raw)) };
    default:
      throw new MalformedError(`unknown watch event ${type}`);
  }
}

function jsonEvent<T>(json: unknown, codec: Codec<T>): WatchEvent<T> {
  const { type, object } = asObject(json);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: codec.fromJson(object) };
    case 'BOOKMARK':
      return bookmark(asObject(asObject(object)['metadata']));
    case 'ERROR':
      return { type, error: errorOf(statusFromJson(object)) };
    default:
      throw new MalformedError(`unknown watch event ${asText(type)}`);
  }
}

function bookmark(meta: { readonly resourceVersion?: unknown; readonly annotations?: unknown } | undefined) {
  const resourceVersion = asText(meta?.resourceVersion);
  if (resourceVersion === '') throw new MalformedError('bookmark without resourceVersion');
  const initialEventsEnd = asObject(meta?.annotations)[initialEventsEndAnnotation] === 'true';
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd } as const;
}
