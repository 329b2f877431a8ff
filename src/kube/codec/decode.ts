import type { V1WatchEvent } from '@kubernetes/client-node';
import { asObject, asText, parseJson, statusFromJson, type Unchecked } from './json.ts';
import { ListDecoder, type Codec, type Page } from './list.ts';
import { MalformedError, unwrap } from './frames.ts';
import { Annotated, Identity, Status, WatchEvent as WireEvent } from '../gen/meta.ts';
import { decodeWhole } from './reader.ts';

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly object: T }
  | { readonly type: 'DELETED'; readonly object: { readonly uid: string; readonly resourceVersion: string } }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** All objects have been sent with which the watch begins. */
      readonly endsList: boolean;
    }
  | { readonly type: 'ERROR'; readonly status: Status };

/** Reads the response to a list while it arrives. */
export async function decodeList<T>(chunks: AsyncIterable<Buffer>, codec: Codec<T>): Promise<Page<T>> {
  const list = new ListDecoder(codec);
  for await (const chunk of chunks) guarded('list', () => list.push(chunk));
  return guarded('list', () => list.finish());
}

/** Reads one frame of a watch: protobuf or JSON, whichever the server sends. */
export function decodeWatchEvent<T>(frame: Uint8Array, codec: Codec<T>): WatchEvent<T> {
  const isJson = frame[0] === 0x7b;
  return guarded('watch frame', () =>
    isJson ? jsonEvent(asObject(parseJson(frame)), codec) : protobufEvent(frame, codec),
  );
}

function guarded<R>(what: string, decode: () => R): R {
  try {
    return decode();
  } catch (err) {
    throw new MalformedError(`decoding a ${what}`, { cause: err });
  }
}

function protobufEvent<T>(frame: Uint8Array, codec: Codec<T>): WatchEvent<T> {
  const { type, object } = WireEvent.decode(frame);
  const raw = asBuffer(unwrap(object?.raw ?? new Uint8Array()).raw);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type, object: codec.fromProtobuf(raw) };
    case 'DELETED':
      return deleted(decodeWhole(Identity, raw).metadata);
    case 'BOOKMARK':
      return bookmark(Identity.decode(raw).metadata, Annotated.decode(raw).metadata?.annotations);
    case 'ERROR':
      return { type, status: Status.decode(raw) };
    default:
      throw new MalformedError(`unknown watch event ${type}`);
  }
}

function jsonEvent<T>({ type, object }: Unchecked<V1WatchEvent>, codec: Codec<T>): WatchEvent<T> {
  const meta = asObject(asObject(object)['metadata']);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type, object: codec.fromJson(object) };
    case 'DELETED':
      return deleted(meta);
    case 'BOOKMARK':
      return bookmark(meta, asObject(meta['annotations']));
    case 'ERROR':
      return { type, status: statusFromJson(object) };
    default:
      throw new MalformedError(`unknown watch event ${asText(type)}`);
  }
}

/** Nothing else of a deleted object is read. */
function deleted(meta: { readonly uid?: unknown; readonly resourceVersion?: unknown } | undefined) {
  const [uid, resourceVersion] = [asText(meta?.uid), asText(meta?.resourceVersion)];
  if (uid === '' || resourceVersion === '')
    throw new MalformedError('a deleted object without uid or resourceVersion');
  return { type: 'DELETED', object: { uid, resourceVersion } } as const;
}

function bookmark(
  meta: { readonly resourceVersion?: unknown } | undefined,
  annotations: Readonly<Record<string, unknown>> = {},
) {
  const resourceVersion = asText(meta?.resourceVersion);
  if (resourceVersion === '') throw new MalformedError('bookmark without resourceVersion');
  const endsList = annotations['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion, endsList } as const;
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
