import { describe, expect, test } from 'vitest';
import { LiveNode } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;

const meta = { resourceVersion: '9' };
const pod = (name: string): object => ({
  metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: '7' },
  spec: { containers: [{ image: 'main:1' }] },
});
const node = {
  metadata: { name: 'node-1', uid: 'n1', resourceVersion: '3', labels: { 'gc.dustpan.dev/keep': 'true' } },
};

type Responses = Readonly<Record<string, () => unknown>>;
const policy = {
  metadata: { name: 'default', uid: 'p1' },
  spec: { mode: 'Enforce', nodes: { nodeSelector: {}, imageGC: {} } },
};
const policies = { '/apis/gc.dustpan.dev/v1alpha1/gcpolicies': () => ({ items: [policy] }) };
const all: Responses = {
  ...policies,
  '/api/v1/nodes': () => ({ kind: 'NodeList', metadata: meta, items: [node] }),
  '/api/v1/pods': () => ({ kind: 'PodList', metadata: meta, items: [pod('x'), pod('y')] }),
};

function server(responses: Responses): FakeTransport {
  const respond = ({ path }: KubeRequest): unknown => responses[path]?.();
  return new FakeTransport({
    send: respond,
    async *stream(request) {
      yield JSON.stringify(await respond(request));
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
    ['/apis/gc.dustpan.dev/v1alpha1/gcpolicies', undefined],
    ['/api/v1/nodes', { fieldSelector: 'metadata.name=node-1' }],
    ['/api/v1/pods', { fieldSelector: 'spec.nodeName=node-1' }],
  ]);
});

test('judges the node of that name alone', async () => {
  const other = { metadata: { name: 'node-2', uid: 'n2', resourceVersion: '4' } };
  const both = () => ({ kind: 'NodeList', metadata: meta, items: [other, node] });
  const { governance } = await read(server({ ...all, '/api/v1/nodes': both }));
  expect(governance).toMatchObject({ reason: 'KeepMarked' });
});

test('notices a missing node', async () => {
  const none = () => ({ kind: 'NodeList', metadata: meta, items: [] });
  const { governance } = await read(server({ ...all, '/api/v1/nodes': none }));
  expect(governance).toMatchObject({ reason: 'NodeUnknown' });
});

const refused = (): never => {
  throw new ApiError('forbidden', { status: 403, reason: 'Forbidden' });
};

describe('rejects', () => {
  test.each(Object.keys(all))('if %s cannot be read', async (path) => {
    await expect(read(server({ ...all, [path]: refused }))).rejects.toThrow();
  });

  test('if the kind of the policies is not installed', async () => {
    const missing = (): never => {
      throw new ApiError('the server could not find the requested resource', { status: 404 });
    };
    await expect(
      read(server({ ...all, '/apis/gc.dustpan.dev/v1alpha1/gcpolicies': missing })),
    ).rejects.toThrow('could not find');
  });

  test.each<[string, object]>([
    [
      'a part of a list of pods',
      { kind: 'PodList', metadata: { ...meta, continue: 'more' }, items: [pod('x')] },
    ],
    ['another kind', { kind: 'Status', metadata: {} }],
  ])('%s', async (_name, response) => {
    await expect(read(server({ ...all, '/api/v1/pods': () => response }))).rejects.toThrow('reading pods');
  });

  test('a part of a list of policies', async () => {
    const half = () => ({ metadata: { continue: 'more' }, items: [{ metadata: {} }] });
    const responses = { ...all, '/apis/gc.dustpan.dev/v1alpha1/gcpolicies': half };
    await expect(read(server(responses))).rejects.toThrow('not the whole list');
  });

  test('a response that is no list of policies', async () => {
    const responses = { ...all, '/apis/gc.dustpan.dev/v1alpha1/gcpolicies': () => ({ kind: 'Status' }) };
    await expect(read(server(responses))).rejects.toThrow('not a list');
  });

  describe.each(Object.keys(all))('%s without a response', (path) => {
    /** Responds to this request only when it is aborted. */
    const hanging = (): FakeTransport => {
      const respond = async (request: KubeRequest, signal: AbortSignal): Promise<unknown> => {
        if (request.path === path)
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
        return all[request.path]?.();
      };
      return new FakeTransport({
        send: respond,
        async *stream(request, signal) {
          yield JSON.stringify(await respond(request, signal));
        },
      });
    };

    test('after 10 s', async () => {
      const clock = new ManualClock();
      const transport = hanging();
      const reading = expect(read(transport, never, clock)).rejects.toThrow(
        'no response of the API server within 10 s',
      );
      await until(() => transport.requests.length === 3);
      await settled();
      clock.advance(10_000);
      await reading;
    });

    test('at an abort, with its reason', async () => {
      const stop = new AbortController();
      const reason = new Error('stopping');
      const transport = hanging();
      const reading = expect(read(transport, stop.signal)).rejects.toBe(reason);
      await until(() => transport.requests.length === 3);
      stop.abort(reason);
      await reading;
    });
  });

  test('an abort, with its reason', async () => {
    const reason = new Error('stop');
    await expect(read(server(all), AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
