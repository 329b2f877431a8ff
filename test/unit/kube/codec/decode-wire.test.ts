import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import type { Page } from '../../../../src/kube/codec/list.ts';
import { decodeList, decodeWatchEvent } from '../../../../src/kube/codec/decode.ts';
import { FrameSplitter, MalformedError } from '../../../../src/kube/codec/frames.ts';
import { podFromJson } from '../../../../src/kube/codec/json.ts';
import { Pod } from '../../../../src/kube/gen/core.ts';
import { ListMeta, Status } from '../../../../src/kube/gen/meta.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { podCodec } from '../../../../src/kube/cache/resources.ts';
import { envelope, frame, Wire, type FakeObject } from '../../../fakes/api-wire.ts';
import { evicted, evictedFacts, pod, plain } from './decode.fixtures.ts';

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
  const meta = { resourceVersion: '9', continue: 'next' };
  const objects = [evicted, pod({ phase: 'Running' })];

  test.each([
    { name: 'protobuf', body: new Wire('Pod', false).list(objects, meta) },
    { name: 'JSON', body: new Wire('Pod', true).list(objects, meta) },
  ])('$name, wherever the chunks end', async ({ body }) => {
    for (const size of [1, 7, 100, 1_000_000]) {
      const page = await decodeList(chunks(body, size), codec);
      expect(page).toMatchObject({ resourceVersion: '9', continueToken: 'next' });
      expect(page.items.slice(0, 1).map(plain)).toEqual([evictedFacts]);
      expect(page.items.map((item) => item.uid)).toEqual([evictedFacts.uid, 'u']);
    }
  });

  test('may be empty', async () => {
    const body = new Wire('Pod', false).list([], { resourceVersion: '9', continue: '' });
    const expected: Page<PodFacts> = { items: [], resourceVersion: '9', continueToken: '' };
    expect(await decodeList(chunks(body), codec)).toEqual(expected);
  });

  test('may have unknown fields', async () => {
    const list = new BinaryWriter();
    ListMeta.encode(ListMeta.fromPartial(meta), list.uint32(10).fork()).join();
    list.uint32(26).bytes(Buffer.from('new'));
    const page = await decodeList(chunks(envelope('PodList', list.finish())), codec);
    expect(page).toEqual({ items: [], resourceVersion: '9', continueToken: 'next' });
  });

  const whole = new Wire('Pod', false).list(objects, meta);
  const renamed = (list: Buffer): Buffer =>
    Buffer.from(list.toString('latin1').replace('PodList', 'PodLost'), 'latin1');
  const pods = (
    objects: readonly FakeObject[],
    meta: { resourceVersion: string; continue: string },
  ): Buffer => new Wire('Pod', false).list(objects, meta);
  const lastLength = Pod.encode(podFromJson(objects[1])).finish().length + 2;
  test.each<readonly [string, Buffer | string]>([
    ['cut off in an object', whole.subarray(0, -10)],
    ['cut off after the envelope', whole.subarray(0, 20)],
    ['of another kind', envelope('Status', Status.encode(Status.fromPartial({})).finish())],
    ['without a version', pods(objects, { resourceVersion: '', continue: '' })],
    ['cut off between two objects', whole.subarray(0, -lastLength)],
    ['with half a field behind it', Buffer.concat([whole, Buffer.from([0x1a, 9, 1])])],
    ['whose envelope names another kind', renamed(whole)],
    ['with a field that is no message', Buffer.concat([whole, Buffer.from([0x18, 0])])],
    ['with a field of impossible length', Buffer.concat([whole, Buffer.from([0x1a]), Buffer.alloc(6, 0xff)])],
    ['of a single object in JSON', '{"kind":"Pod","metadata":{"resourceVersion":"1"}}'],
    ['with an item that is no object', '{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[1]}'],
    ['empty', ''],
    ['HTML', '<html>'],
    ['JSON of another kind', '{"kind":"Status"}'],
    ['garbage after the magic bytes', 'k8s\0\x01\x02\x03\x04'],
    ['with an object without identity', pods([{ metadata: { name: '', uid: '' } }], meta)],
  ])('%s: rejected', async (_name, body) => {
    await expect(decodeList(chunks(Buffer.from(body)), codec)).rejects.toThrow(MalformedError);
  });
});

describe('watch events', () => {
  const decodeOne = (bytes: Buffer) =>
    new FrameSplitter().push(bytes).map((each) => decodeWatchEvent(each, codec))[0];

  test.each([true, false])('as JSON: %s', (isJson) => {
    const wire = new Wire('Pod', isJson);
    expect(decodeOne(wire.event('ADDED', evicted))).toMatchObject({ type: 'ADDED', object: evictedFacts });
    expect(decodeOne(wire.event('DELETED', evicted))).toMatchObject({ type: 'DELETED' });
    expect(decodeOne(wire.bookmark('7'))).toEqual({ type: 'BOOKMARK', resourceVersion: '7' });
    const status = { code: 410, reason: 'Expired', message: 'too old' };
    expect(decodeOne(wire.error(status))).toMatchObject({ type: 'ERROR', status });
  });

  const nameless = envelope('Pod', new Uint8Array());
  const renamed = Buffer.concat([Buffer.from('k9s\0'), envelope('Status', new Uint8Array()).subarray(4)]);
  test.each<readonly [string, Buffer]>([
    ['an unknown type', frame('NEW', nameless)],
    ['an unknown type in JSON', Buffer.from('{"type":"NEW","object":{}}\n')],
    ['no envelope', frame('ADDED', Buffer.from('nonsense'))],
    ['another envelope', frame('ERROR', renamed)],
    ['no object', frame('ADDED', new Uint8Array())],
    ['a bookmark without a version', frame('BOOKMARK', nameless)],
    ['invalid JSON', Buffer.from('{"type":\n')],
  ])('%s: rejected', (_name, bytes) => {
    expect(() => decodeOne(bytes)).toThrow(MalformedError);
  });
});
