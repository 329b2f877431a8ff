import { expect, test } from 'vitest';
import { clusterActions } from '../../../../src/kube/actions/cluster.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7' };

test('deletePod counts NotFound for a repeated request as deleted', async () => {
  const missing = Object.assign(refusal(404, 'NotFound'), { resent: true });
  const actions = clusterActions(new FakeTransport({ send: () => missing }));
  expect(await actions.deletePod(pod, signal)).toBe('deleted');
});

test('deletePod escapes the names in its path', async () => {
  const transport = new FakeTransport({});
  await clusterActions(transport).deletePod({ ...pod, namespace: 'a/x', name: 'b?c' }, signal);
  expect(transport.requests).toMatchObject([{ path: '/api/v1/namespaces/a%2Fx/pods/b%3Fc' }]);
});
