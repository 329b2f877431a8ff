import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { attachmentReader, LiveNode } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
const half = { continue: 'more' };
const listOf = (kind: string, items: readonly object[], more: object = {}): object => ({
  ...{ kind, items, metadata: { resourceVersion: '9', ...more } },
});
const rejection = (status: number, reason: string) => (): never => {
  throw new ApiError('rejected by the test', { status, reason });
};
const liveNode = (transport: FakeTransport, clock = new ManualClock()) =>
  new LiveNode({ transport, clock, nodeName: 'node-1' });

test.each<[name: string, respond: () => unknown, expected: boolean | string]>([
  ['exists', () => ({ metadata: { name: 'csi-1' } }), true],
  ['does not exist', rejection(404, 'NotFound'), false],
  ['is hidden behind the 404 of a proxy', rejection(404, ''), 'rejected by the test'],
  ['may not be read', rejection(403, 'Forbidden'), 'rejected by the test'],
])('a VolumeAttachment %s', async (_, respond, expected) => {
  const transport = new FakeTransport({ send: respond });
  const read = attachmentReader(transport)('csi-1', never);
  if (typeof expected === 'string') await expect(read).rejects.toThrow(expected);
  else expect(await read).toBe(expected);
});

describe('the state to confirm before a removal', () => {
  const pod = (name: string): object => ({
    metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: '7' },
    spec: { containers: [{ image: 'main:1' }] },
  });
  const nodeWith = (labels: object, name = 'node-1') => ({
    metadata: { name, uid: name, resourceVersion: '3', labels },
  });
  const node = nodeWith({ 'gc.dustpan.dev/keep': 'true' });
  const policy = {
    metadata: { name: 'default', uid: 'p1', generation: 3 },
    spec: { mode: 'Enforce', nodes: { nodeSelector: {}, imageGC: {} } },
  };

  type Responses = Readonly<Record<string, (signal: AbortSignal) => unknown>>;
  const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
  const all: Responses = {
    [policiesPath]: () => ({ items: [policy] }),
    '/api/v1/nodes': () => listOf('NodeList', [node]),
    '/api/v1/pods': () => listOf('PodList', [pod('x'), pod('y')]),
  };

  function server(changed: Responses, headers: Record<string, string> = {}): FakeTransport {
    const responses = { ...all, ...changed };
    return new FakeTransport({
      send: ({ path }, signal) => responses[path]?.(signal),
      headers,
      async *stream({ path }, signal) {
        yield JSON.stringify(await responses[path]?.(signal));
      },
    });
  }

  test('is the policies, the node with its labels and the pods bound to it, each in one request', async () => {
    const transport = server({});
    const clock = new ManualClock();
    const live = await liveNode(transport, clock).confirm(never);
    expect(clock.sleeping).toEqual([]);
    expect(live.governance).toMatchObject({ kind: 'keep', reason: 'KeepMarked' });
    expect(live.pods.map(({ uid, images }) => [uid, images])).toEqual([
      ['uid-x', ['main:1']],
      ['uid-y', ['main:1']],
    ]);
    expect(transport.requests.map(({ path, query }) => [path, query])).toEqual([
      [policiesPath, undefined],
      ['/api/v1/nodes', { fieldSelector: 'metadata.name=node-1' }],
      ['/api/v1/pods', { fieldSelector: 'spec.nodeName=node-1' }],
    ]);
  });

  const governing = { uid: 'p1', mode: 'Enforce', generation: 3 };
  test.each<readonly [string, Responses, object]>([
    [
      'is that of the policy that the server has',
      { '/api/v1/nodes': () => listOf('NodeList', [nodeWith({})]) },
      { kind: 'governed', policy: governing },
    ],
    ['has no policy', { [policiesPath]: () => ({ items: [] }) }, { reason: 'NoPolicy' }],
    [
      'is that of the node of that name alone',
      { '/api/v1/nodes': () => listOf('NodeList', [nodeWith({}, 'node-2'), node]) },
      { reason: 'KeepMarked' },
    ],
    ['has no node', { '/api/v1/nodes': () => listOf('NodeList', []) }, { reason: 'NodeUnknown' }],
  ])('%s', async (_name, responses, expected) => {
    const { governance } = await liveNode(server(responses)).confirm(never);
    expect(governance).toMatchObject(expected);
  });

  test.each([
    [{ date: 'Thu, 15 Jan 2026 11:00:00 GMT' }, 3_600_000],
    [{}, 0],
  ])('has the clock skew at 12:00 against the header %o: %i ms', async (headers, clockSkewMs) => {
    expect(await liveNode(server({}, headers)).confirm(never)).toMatchObject({ clockSkewMs });
  });

  const partOfPods = (): object => listOf('PodList', [pod('x')], half);
  test.each<readonly [string, string, () => unknown, string]>([
    ['rejected policies', policiesPath, rejection(403, 'Forbidden'), 'rejected by the test'],
    ['a rejected node', '/api/v1/nodes', rejection(403, 'Forbidden'), 'reading nodes'],
    ['rejected pods', '/api/v1/pods', rejection(403, 'Forbidden'), 'reading pods'],
    ['a missing kind of policies', policiesPath, rejection(404, ''), 'rejected by the test'],
    ['a part of the policies', policiesPath, () => ({ metadata: half, items: [] }), 'not the whole list'],
    ['a response that is no list of policies', policiesPath, () => ({ kind: 'Status' }), 'not a list'],
    ['a part of the pods', '/api/v1/pods', partOfPods, 'reading pods'],
    ['another kind', '/api/v1/pods', () => ({ kind: 'Status', metadata: {} }), 'reading pods'],
  ])('is not known with %s', async (_name, path, respond, problem) => {
    await expect(liveNode(server({ [path]: respond })).confirm(never)).rejects.toThrow(problem);
  });

  test.each(Object.keys(all))('is not awaited for more than 10 s, or after an abort: %s', async (path) => {
    const stop = new AbortController();
    const hanging = server({ [path]: (signal) => once(signal, 'abort') });
    const clock = new ManualClock();
    const problem = 'no response of the API server within 10 s';
    const reading = expect(liveNode(hanging, clock).confirm(never)).rejects.toThrow(problem);
    await until(() => hanging.requests.length === 3);
    await settled();
    clock.advance(10_000);
    await reading;
    const reason = new Error('stopping');
    const aborted = expect(liveNode(hanging).confirm(stop.signal)).rejects.toBe(reason);
    await until(() => hanging.requests.length === 6);
    stop.abort(reason);
    await aborted;
  });
});

describe('the state of a pod', () => {
  const named = { uid: 'u1', namespace: 'shop', name: 'web' };
  const unnamed = { uid: 'u1', namespace: undefined, name: undefined };
  const annotations = {
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.hash': 'u1',
    'kubernetes.io/config.mirror': 'u1',
  };
  const mirrorOfOther = { ...annotations, 'kubernetes.io/config.mirror': 'u3' };
  const ownedBy = (name: string): object => ({
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: 'n1', controller: true }],
  });
  const byOther = { annotations, ...ownedBy('node-2') };

  describe.each([
    { known: 'namespace and name', remains: named },
    { known: 'only the UID', remains: unnamed },
  ])('with $known', ({ remains }) => {
    test.each<readonly [string, object, string]>([
      ['the pod itself', { uid: 'u1' }, 'exists'],
      ['another pod', { uid: 'u2' }, 'gone'],
      ['its mirror', { uid: 'u2', annotations, ...ownedBy('node-1') }, 'exists'],
      ['a pod with the annotations', { uid: 'u2', annotations }, 'gone'],
      ['a pod with the annotations that another Node owns', { uid: 'u2', ...byOther }, 'gone'],
      ['a mirror of another pod', { uid: 'u2', annotations: mirrorOfOther, ...ownedBy('node-1') }, 'gone'],
    ])('%s: %s', async (_name, metadata, expected) => {
      const pod = { metadata: { name: 'web', ...metadata }, spec: { nodeName: 'node-1' } };
      const stream = () => [JSON.stringify(listOf('PodList', [pod]))];
      const node = liveNode(new FakeTransport({ send: () => pod, stream }));
      expect(await node.podState(remains, never)).toBe(expected);
    });

    test('throws the reason of an abort', async () => {
      const node = liveNode(new FakeTransport({ stream: rejection(403, 'Forbidden') }));
      const stopped = AbortSignal.abort(new Error('stopping'));
      await expect(node.podState(remains, stopped)).rejects.toThrow('stopping');
    });
  });

  test.each([
    { name: 'NotFound', send: rejection(404, 'NotFound'), expected: 'gone' },
    { name: 'a 404 of a proxy', send: rejection(404, ''), expected: 'unknown' },
    { name: 'a missing right', send: rejection(403, 'Forbidden'), expected: 'unknown' },
    { name: 'a response without metadata', send: () => ({}), expected: 'unknown' },
    { name: 'a response that is not JSON', send: () => Buffer.from('<html>'), expected: 'unknown' },
  ])('by name, $name: $expected', async ({ send, expected }) => {
    const transport = new FakeTransport({ send });
    expect(await liveNode(transport).podState(named, never)).toBe(expected);
    const request = { path: '/api/v1/namespaces/shop/pods/web', timeoutMs: 10_000 };
    expect(transport.requests[0]).toMatchObject(request);
  });

  const streaming = (response: object) => () => [JSON.stringify(response)];
  test.each([
    { name: 'an empty list', stream: streaming(listOf('PodList', [])), expected: 'gone' },
    { name: 'a part of a list', stream: streaming(listOf('PodList', [], half)), expected: 'unknown' },
    { name: 'another kind', stream: streaming({ kind: 'Status' }), expected: 'unknown' },
    { name: 'a missing right', stream: rejection(403, 'Forbidden'), expected: 'unknown' },
  ])('by UID, also if the namespace is known, $name: $expected', async ({ stream, expected }) => {
    const transport = new FakeTransport({ stream });
    expect(await liveNode(transport).podState({ ...unnamed, namespace: 'shop' }, never)).toBe(expected);
    const query = { fieldSelector: 'spec.nodeName=node-1' };
    expect(transport.requests).toMatchObject([{ path: '/api/v1/pods', query }]);
  });
});
