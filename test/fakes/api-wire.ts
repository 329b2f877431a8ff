import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { asObject, podFromJson, textsFromJson } from '../../src/kube/codec/json.ts';
import { Pod } from '../../src/kube/gen/core.ts';
import {
  AnnotatedMeta,
  Bookmark,
  ListMeta,
  ObjectMeta,
  Status,
  Unknown,
  WatchEvent,
} from '../../src/kube/gen/meta.ts';

export interface FakeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

interface FakeStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

/** Responses of an API server for pods, in JSON or protobuf. */
export class Wire {
  readonly #kind: 'Pod';
  readonly #isJson: boolean;

  constructor(kind: 'Pod', isJson: boolean) {
    this.#kind = kind;
    this.#isJson = isJson;
  }

  list(objects: readonly FakeObject[], meta: { resourceVersion: string; continue: string }): Buffer {
    if (this.#isJson) {
      return Buffer.from(JSON.stringify({ kind: `${this.#kind}List`, metadata: meta, items: objects }));
    }
    const list = new BinaryWriter();
    ListMeta.encode(ListMeta.fromPartial(meta), list.uint32(10).fork()).join();
    for (const object of objects) list.uint32(18).bytes(this.#encode(object));
    return envelope(`${this.#kind}List`, list.finish());
  }

  event(type: string, object: FakeObject): Buffer {
    if (this.#isJson) return line({ type, object: { kind: this.#kind, ...object } });
    return frame(type, envelope(this.#kind, this.#encode(object)));
  }

  bookmark(resourceVersion: string): Buffer {
    const metadata = { resourceVersion };
    if (this.#isJson) return line({ type: 'BOOKMARK', object: { kind: this.#kind, metadata } });
    return frame('BOOKMARK', envelope(this.#kind, Bookmark.encode({ metadata }).finish()));
  }

  error(status: FakeStatus): Buffer {
    const failure = { kind: 'Status', status: 'Failure', ...status };
    if (this.#isJson) return line({ type: 'ERROR', object: failure });
    return frame('ERROR', envelope('Status', Status.encode(Status.fromPartial(failure)).finish()));
  }

  #encode(object: FakeObject): Uint8Array {
    return podBytes(object);
  }
}

/** A pod in protobuf, with its annotations. */
export function podBytes(object: object): Buffer {
  const { metadata, ...rest } = podFromJson(object);
  const annotations = textsFromJson(asObject(asObject(asObject(object)['metadata'])['annotations']));
  const meta = [
    metadata === undefined ? new Uint8Array() : ObjectMeta.encode(metadata).finish(),
    AnnotatedMeta.encode({ annotations }).finish(),
  ];
  return Buffer.concat([
    new BinaryWriter().uint32(metadataTag).bytes(Buffer.concat(meta)).finish(),
    Pod.encode({ ...rest, metadata: undefined }).finish(),
  ]);
}

/** Field 1, with a length. */
const metadataTag = 10;

/** A response of an API server in protobuf. */
export function envelope(kind: string, raw: Uint8Array): Buffer {
  const unknown = Unknown.encode(Unknown.fromPartial({ typeMeta: { apiVersion: 'v1', kind }, raw })).finish();
  return Buffer.concat([Buffer.from('k8s\0'), unknown]);
}

/** A frame of a watch in protobuf. */
export function frame(type: string, object: Uint8Array): Buffer {
  const event = WatchEvent.encode({ type, object: { raw: object } }).finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

function line(event: object): Buffer {
  return Buffer.from(`${JSON.stringify(event)}\n`);
}
