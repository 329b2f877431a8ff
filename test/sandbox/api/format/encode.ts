import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Failure } from '../failure.ts';
import { without, type JsonObject, type KubeObject } from './json.ts';
import { listMeta, metadataOnly, statusMessage } from './protobuf-kinds.ts';
import { encodeMessage, type MessageFields } from './protobuf.ts';
import type { Call } from '../request.ts';
import { apiVersionOf, type Resource } from '../resources.ts';
import { tableOf } from './table.ts';

export type Encoding = 'json' | 'protobuf';

interface Media {
  readonly encoding: Encoding;
  readonly metadataOnly: boolean;
  /** The rows that `kubectl get` prints. */
  readonly isTable: boolean;
}

export interface Form {
  readonly resource: Resource;
  readonly media: Media;
}

export interface Page {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continueToken: string;
}

const metadataVersion = 'meta.k8s.io/v1';
const protobufType = 'application/vnd.kubernetes.protobuf';

/** The first form in the Accept header that the kind supports; throws 406 if there is none. */
export function formOf({ resource, verb }: Pick<Call, 'resource' | 'verb'>, accept: string): Form {
  for (const clause of accept.split(',')) {
    const media = mediaOf(clause, { resource, verb });
    if (media !== undefined) return { resource, media };
  }
  throw new Failure('only the following media types are accepted: application/json', {
    code: 406,
    reason: 'NotAcceptable',
  });
}

/** What one clause of the header means; undefined = the kind does not support it. */
function mediaOf(clause: string, { resource, verb }: Pick<Call, 'resource' | 'verb'>): Media | undefined {
  const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
  const as = parameters.find((one) => one.startsWith('as='))?.slice('as='.length);
  const encoding = encodings[type];
  if (encoding === undefined) return undefined;
  const isWhole = as === undefined && (encoding === 'json' || resource.binary !== undefined);
  const metadataOnly = as === `PartialObjectMetadata${verb === 'list' ? 'List' : ''}`;
  const isTable = as === 'Table' && encoding === 'json' && isPrinted(resource, verb);
  return isWhole || metadataOnly || isTable ? { encoding, metadataOnly, isTable } : undefined;
}

const isPrinted = ({ columns }: Resource, verb: Call['verb']): boolean =>
  columns.length > 0 && verb !== 'watch';

const encodings: Readonly<Record<string, Encoding>> = {
  'application/json': 'json',
  '*/*': 'json',
  [protobufType]: 'protobuf',
};

export function contentType(encoding: Encoding, watch = false): string {
  if (encoding === 'json') return 'application/json';
  return watch ? `${protobufType};stream=watch` : protobufType;
}

export function encodeObject(object: KubeObject, form: Form): Uint8Array {
  if (form.media.isTable) return table([object], form, { resourceVersion: object.metadata.resourceVersion });
  const shown = shape(object, form);
  return form.media.encoding === 'json' ? json(shown) : envelope(shown, encodeMessage(shown, fieldsOf(form)));
}

export function encodeStatus(status: JsonObject, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return json(status);
  return envelope({ apiVersion: 'v1', kind: 'Status' }, encodeMessage(status, statusMessage));
}

/** One frame of a watch: a line of JSON, or a message after its length. */
export function encodeEvent(type: string, object: KubeObject, form: Form): Uint8Array {
  const shown = shape(object, form);
  if (form.media.encoding === 'json') return frameJson(type, shown);
  return frame(type, envelope(shown, encodeMessage(shown, fieldsOf(form))));
}

export function encodeErrorEvent(status: JsonObject, encoding: Encoding): Uint8Array {
  return encoding === 'json' ? frameJson('ERROR', status) : frame('ERROR', encodeStatus(status, encoding));
}

export function encodeList(page: Page, form: Form): Uint8Array {
  const { resourceVersion, continueToken } = page;
  const metadata = { resourceVersion, ...(continueToken === '' ? {} : { continue: continueToken }) };
  if (form.media.isTable) return table(page.items, form, metadata);
  const items = page.items.map((item) => shape(item, form));
  if (form.media.encoding === 'protobuf')
    return envelope(listHead(form), encodeMessage({ metadata, items }, listFields(form)));
  // Like the real server: items of built-in kinds have no kind and apiVersion.
  const isBare = !form.resource.custom && !form.media.metadataOnly;
  const shown = isBare ? items.map((item) => without(item, 'kind', 'apiVersion')) : items;
  return json({ ...listHead(form), metadata, items: shown });
}

const table = (objects: readonly KubeObject[], { resource }: Form, metadata: JsonObject): Uint8Array =>
  json({ kind: 'Table', apiVersion: metadataVersion, metadata, ...tableOf(objects, resource.columns) });

const listFields = (form: Form): MessageFields => ({
  metadata: [1, { message: listMeta }],
  items: [2, { repeated: fieldsOf(form) }],
});

const json = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);
const frameJson = (type: string, object: JsonObject): Uint8Array => json({ type, object });

function shape(object: KubeObject, { media }: Form): KubeObject {
  if (!media.metadataOnly) return object;
  return { kind: 'PartialObjectMetadata', apiVersion: metadataVersion, metadata: object.metadata };
}

const fieldsOf = ({ resource, media }: Form): MessageFields =>
  media.metadataOnly ? metadataOnly : (resource.binary ?? metadataOnly);

function listHead({ resource, media }: Form): { readonly kind: string; readonly apiVersion: string } {
  if (media.metadataOnly) return { kind: 'PartialObjectMetadataList', apiVersion: metadataVersion };
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource) };
}

const magic = Buffer.from('k8s\0');
const typeMeta: MessageFields = { apiVersion: [1, 'string'], kind: [2, 'string'] };

/** runtime.Unknown after its magic bytes: the type, then the message. */
export function envelope(head: JsonObject, raw: Uint8Array): Buffer {
  const writer = new BinaryWriter();
  writer.uint32(tag(1)).bytes(encodeMessage(head, typeMeta));
  writer.uint32(tag(2)).bytes(raw);
  writer.uint32(tag(3)).string('').uint32(tag(4)).string('');
  return Buffer.concat([magic, writer.finish()]);
}

/** A message of a watch after its length. */
export function frame(type: string, object: Uint8Array): Buffer {
  const extension = new BinaryWriter().uint32(tag(1)).bytes(object).finish();
  const event = new BinaryWriter().uint32(tag(1)).string(type).uint32(tag(2)).bytes(extension).finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** A field of wire type 2: length and bytes. */
const tag = (field: number): number => (field << 3) | 2;
