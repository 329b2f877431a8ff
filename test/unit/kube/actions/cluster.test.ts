import { expect, test } from 'vitest';
import { clusterActions } from '../../../../src/kube/actions/cluster.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7', generation: 2 };
const throwing = (error: Error) => ({
  send: (): never => {
    throw error;
  },
});

test('deletePod counts NotFound for a repeated request as deleted', async () => {
  const answers = throwing(Object.assign(refusal(404, 'NotFound'), { resent: true }));
  expect(await clusterActions(new FakeTransport(answers)).deletePod(pod, signal)).toBe('deleted');
});

test('deletePod escapes the names in its path', async () => {
  const transport = new FakeTransport({});
  await clusterActions(transport).deletePod({ ...pod, namespace: 'a/x', name: 'b?c' }, signal);
  expect(transport.requests).toMatchObject([{ path: '/api/v1/namespaces/a%2Fx/pods/b%3Fc' }]);
});

test.each([403, 429, 500])('deletePod and markPodFailed throw a %i', async (status) => {
  const actions = clusterActions(new FakeTransport(throwing(refusal(status, ''))));
  await expect(actions.deletePod(pod, signal)).rejects.toMatchObject({ status });
  await expect(actions.markPodFailed(pod, undefined, signal)).rejects.toMatchObject({ status });
});
