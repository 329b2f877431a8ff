import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { LiveNode } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;

const meta = { resourceVersion: '9' };
const listOf = (kind: string, ...items: readonly object[]) => ({ kind, metadata: meta, items });
const pod = (name: string): object => ({
  metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: '7' },
  spec: { containers: [{ image: 'main:1' }] },
});
const nodeWith = (labels: object) => ({
  metadata: { name: 'node-1', uid: 'n1', resourceVersion: '3', labels },
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
  '/api/v1/nodes': () => listOf('NodeList', node),
  '/api/v1/pods': () => listOf('PodList', pod('x'), pod('y')),
};

function server(responses: Responses, headers: Record<string, string> = {}): FakeTransport {
  return new FakeTransport({
    send: ({ path }, signal) => responses[path]?.(signal),
    headers,
    async *stream({ path }, signal) {
      yield JSON.stringify(await responses[path]?.(signal));
    },
  });
}

const read = (transport: FakeTransport, signal = never, clock = new ManualClock()) =>
  new LiveNode({ transport, clock, nodeName: 'node-1' }).confirm(signal);

test('reads policies, the node with its labels and the pods bound to it, each in one request', async () => {
  const transport = server(all);
  const clock = new ManualClock();
  const live = await read(transport, never, clock);
  expect(clock.sleeping).toEqual([]);
  expect(transport.requests[0]).toMatchObject({ timeoutMs: 10_000 });
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

test.each<readonly [string, Responses, object]>([
  [
    'judges by the policy that the server has',
    { '/api/v1/nodes': () => listOf('NodeList', nodeWith({})) },
    { kind: 'governed', policy: { uid: 'p1', mode: 'Enforce', generation: 3 } },
  ],
  ['notices that there is no policy', { [policiesPath]: () => ({ items: [] }) }, { reason: 'NoPolicy' }],
  [
    'judges the node of that name alone',
    {
      '/api/v1/nodes': () =>
        listOf('NodeList', { metadata: { name: 'node-2', uid: 'n2', resourceVersion: '4' } }, node),
    },
    { reason: 'KeepMarked' },
  ],
  ['notices a missing node', { '/api/v1/nodes': () => listOf('NodeList') }, { reason: 'NodeUnknown' }],
])('%s', async (_name, responses, expected) => {
  const { governance } = await read(server({ ...all, ...responses }));
  expect(governance).toMatchObject(expected);
});

test.each([
  { headers: { date: 'Thu, 15 Jan 2026 11:00:00 GMT' }, clockSkewMs: 3_600_000 },
  { headers: { date: 'Thu, 15 Jan 2026 13:00:00 GMT' }, clockSkewMs: -3_600_000 },
  { headers: {}, clockSkewMs: 0 },
])('measures the clock skew at 12:00 against the header $headers: $clockSkewMs ms', async (row) => {
  expect(await read(server(all, row.headers))).toMatchObject({ clockSkewMs: row.clockSkewMs });
});

const refused = (): never => {
  throw new ApiError('forbidden', { status: 403, reason: 'Forbidden' });
};

describe('rejects', () => {
  test.each(Object.keys(all))('if %s cannot be read', async (path) => {
    await expect(read(server({ ...all, [path]: refused }))).rejects.toThrow();
  });

  const notInstalled = (): never => {
    throw new ApiError('the server could not find the requested resource', { status: 404 });
  };
  const half = { continue: 'more' };
  test.each<readonly [string, string, () => unknown, string]>([
    ['a missing kind of policies', policiesPath, notInstalled, 'could not find'],
    [
      'a part of a list of policies',
      policiesPath,
      () => ({ metadata: half, items: [{ metadata: {} }] }),
      'not the whole list',
    ],
    ['a response that is no list of policies', policiesPath, () => ({ kind: 'Status' }), 'not a list'],
    [
      'a part of a list of pods',
      '/api/v1/pods',
      () => ({ kind: 'PodList', metadata: { ...meta, ...half }, items: [pod('x')] }),
      'reading pods',
    ],
    ['another kind', '/api/v1/pods', () => ({ kind: 'Status', metadata: {} }), 'reading pods'],
  ])('%s', async (_name, path, respond, problem) => {
    await expect(read(server({ ...all, [path]: respond }))).rejects.toThrow(problem);
  });

  describe.each(Object.keys(all))('%s without a response', (path) => {
    const hanging = (): FakeTransport => server({ ...all, [path]: (signal) => once(signal, 'abort') });

    test('after 10 s', async () => {
      const [clock, transport] = [new ManualClock(), hanging()];
      const problem = 'no response of the API server within 10 s';
      const reading = expect(read(transport, never, clock)).rejects.toThrow(problem);
      await until(() => transport.requests.length === 3);
      await settled();
      clock.advance(10_000);
      await reading;
    });

    test('at an abort, with its reason', async () => {
      const [stop, transport] = [new AbortController(), hanging()];
      const reason = new Error('stopping');
      const reading = expect(read(transport, stop.signal)).rejects.toBe(reason);
      await until(() => transport.requests.length === 3);
      stop.abort(reason);
      await reading;
    });
  });
});
