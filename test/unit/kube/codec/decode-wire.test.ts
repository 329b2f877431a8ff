import { describe, expect, test } from 'vitest';
import { decodeList, decodeWatchEvent } from '../../../../src/kube/codec/decode.ts';
import { FrameSplitter, MalformedError } from '../../../../src/kube/codec/frames.ts';
import { podCodec } from '../../../../src/kube/cache/resources.ts';
import {
  encodeErrorEvent,
  encodeEvent,
  encodeList,
  encodeStatus,
  envelope,
  frame,
  type Encoding,
  type Form,
  type Page,
} from '../../../sandbox/api/format/encode.ts';
import type { KubeObject } from '../../../sandbox/api/format/json.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { Registry } from '../../../sandbox/api/resources.ts';
import { evicted, evictedFacts, pod, plain } from './decode.fixtures.ts';

const encodings: readonly Encoding[] = ['protobuf', 'json'];
const resource = new Registry().byKind('Pod');
const formOf = (encoding: Encoding): Form => ({
  resource,
  media: { encoding, metadataOnly: false, isTable: false },
});
const codec = podCodec(() => new Set(['app']));

/** Each chunk is valid until the next one. */
async function* chunks(bytes: Buffer, size = 100): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(Math.min(size, bytes.length));
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(memory, 0, at, at + size);
    yield await Promise.resolve(memory.subarray(0, length));
    memory.fill(0xff);
  }
}

describe('lists', () => {
  const objects = [evicted, pod({ phase: 'Running' })];
  const listOf = (over: Partial<Page> = {}, encoding: Encoding = 'protobuf'): Buffer => {
    const page = { items: objects, resourceVersion: '9', continueToken: 'next', ...over };
    return Buffer.from(encodeList(page, formOf(encoding)));
  };

  test.each(encodings)('%s, wherever the chunks end', async (encoding) => {
    for (const size of [1, 7, 100, 1_000_000]) {
      const page = await decodeList(chunks(listOf({}, encoding), size), codec);
      expect(page).toMatchObject({ resourceVersion: '9', continueToken: 'next' });
      expect(page.items.slice(0, 1).map(plain)).toEqual([evictedFacts]);
      expect(page.items.map((item) => item.uid)).toEqual([evictedFacts.uid, 'u']);
    }
  });

  test('may be empty', async () => {
    const page = await decodeList(chunks(listOf({ items: [], continueToken: '' })), codec);
    expect(page).toEqual({ items: [], resourceVersion: '9', continueToken: '' });
  });

  /** A list whose message has these bytes at its end. */
  const endingWith = (...bytes: readonly number[]): Buffer => {
    const meta = Buffer.from('\x0a\x03\x12\x019');
    return envelope({ apiVersion: 'v1', kind: 'PodList' }, Buffer.concat([meta, Buffer.from(bytes)]));
  };

  test('may have unknown fields', async () => {
    const page = await decodeList(chunks(endingWith(0x1a, 1, 7)), codec);
    expect(page).toEqual({ items: [], resourceVersion: '9', continueToken: '' });
  });

  const whole = listOf();
  const renamed = Buffer.from(whole.toString('latin1').replace('PodList', 'PodLost'), 'latin1');
  const nameless = { ...evicted, metadata: { ...evicted.metadata, name: '', uid: '' } };
  /** The two empty fields behind the list in the envelope, and the last object with its head. */
  const lastLength = 4 + protobufOf('Pod', objects[1] ?? {}).length + 2;
  test.each<readonly [string, Buffer | string]>([
    ['cut off in an object', whole.subarray(0, -20)],
    ['cut off after the envelope', whole.subarray(0, 20)],
    ['of another kind', Buffer.from(encodeStatus({ code: 500 }, 'protobuf'))],
    ['whose envelope names another kind', renamed],
    ['without a version', listOf({ resourceVersion: '' })],
    ['cut off between two objects', whole.subarray(0, -lastLength)],
    ['with half a field behind it', endingWith(0x1a, 9, 1)],
    ['with an item that is no object', '{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[1]}'],
    ['of a single object in JSON', '{"kind":"Pod","metadata":{"resourceVersion":"1"}}'],
    ['empty', ''],
    ['HTML', '<html>'],
    ['JSON of another kind', '{"kind":"Status"}'],
    ['with an object without identity', listOf({ items: [nameless] })],
  ])('%s: rejected', async (_name, body) => {
    await expect(decodeList(chunks(Buffer.from(body)), codec)).rejects.toThrow(MalformedError);
  });
});

describe('watch events', () => {
  const decodeOne = (bytes: Buffer) =>
    new FrameSplitter().push(bytes).map((each) => decodeWatchEvent(each, codec))[0];

  test.each(encodings)('as %s', (encoding) => {
    const eventOf = (type: string, object: KubeObject) =>
      decodeOne(Buffer.from(encodeEvent(type, object, formOf(encoding))));
    expect(eventOf('ADDED', evicted)).toMatchObject({ type: 'ADDED', object: evictedFacts });
    const { uid, resourceVersion } = evictedFacts;
    expect(eventOf('DELETED', evicted)).toEqual({ type: 'DELETED', object: { uid, resourceVersion } });
    const bookmark = { type: 'BOOKMARK', resourceVersion: '1' };
    expect(eventOf('BOOKMARK', pod({}))).toEqual({ ...bookmark, endsList: false });
    const { metadata, ...rest } = pod({});
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const end = { ...rest, metadata: { ...metadata, annotations } };
    expect(eventOf('BOOKMARK', end)).toEqual({ ...bookmark, endsList: true });
    const status = { code: 410, reason: 'Expired', message: 'too old' };
    const error = decodeOne(Buffer.from(encodeErrorEvent({ kind: 'Status', ...status }, encoding)));
    expect(error).toMatchObject({ type: 'ERROR', status });
  });

  const empty = (kind: string): Buffer => envelope({ apiVersion: 'v1', kind }, new Uint8Array());
  const nameless = empty('Pod');
  test.each<readonly [string, Buffer]>([
    ['an unknown type', frame('NEW', nameless)],
    ['no envelope', frame('ADDED', Buffer.from('nonsense'))],
    ['no object', frame('ADDED', new Uint8Array())],
    ['a bookmark without a version', frame('BOOKMARK', nameless)],
    ['a deleted object without identity', frame('DELETED', nameless)],
    ['invalid JSON', Buffer.from('{"type":\n')],
  ])('%s: rejected', (_name, bytes) => {
    expect(() => decodeOne(bytes)).toThrow(MalformedError);
  });
});
