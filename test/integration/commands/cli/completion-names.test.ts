import { afterEach, beforeEach, expect, test } from 'vitest';
import { ran } from '../../../fakes/command-line.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { fillCluster, podOn } from '../../controller/environment.ts';

let api: Sandbox;

beforeEach(async () => {
  api = await startSandbox();
  fillCluster(api, 2);
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const pod = podOn('node-1', 'mine', 'Running');
  api.store.apply({ ...pod, metadata: { ...pod.metadata, namespace: 'team' } });
  const image = (name: string) => ({ id: `sha256:${name}`, name, bytes: 1 });
  for (const node of ['node-1', 'node-2'])
    api.store.apply({
      apiVersion: 'gc.dustpan.dev/v1alpha1',
      kind: 'NodeGCReport',
      metadata: { name: node },
      status: {
        usage: {
          images: ['shop/web:1', `shop/${node}:1`, '$(x)'].map((name) => ({ ...image(name), inUse: true })),
        },
        images: {
          lastRemoved: [{ ...image('shop/old:1'), reason: 'Age', policy: 'p', time: '2026-01-01T00:00:00Z' }],
        },
      },
    });
});
afterEach(async () => {
  await api.stop();
});

const completed = async (line: string): Promise<readonly string[]> => {
  const words = line.replace('FILE', api.kubeconfigFile).split(' ');
  const { code, out, err } = await ran(['__complete', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trimEnd().split('\n').slice(0, -1);
};

test.each([
  ['plan --kubeconfig=FILE --context ', [expect.any(String)]],
  ['plan --kubeconfig=FILE -n te', ['team']],
  ['top nodes --kubeconfig=FILE --node node-1,node', ['node-1,node-1']],
  ['why --kubeconfig=FILE -n team pod ', ['mine']],
  ['why --kubeconfig=FILE pod team/m', ['team/mine']],
  ['why --kubeconfig=FILE pod/p0001', ['pod/p0001']],
  ['why --kubeconfig=FILE image shop/', ['shop/web:1', 'shop/node-1:1', 'shop/old:1', 'shop/node-2:1']],
  ['why --kubeconfig=FILE --node=node-2 image/shop/n', ['image/shop/node-2:1']],
  ['why --kubeconfig=/missing pod ', []],
  ['plan --kubeconfig=FILE --server=http://127.0.0.1:1 -n ', []],
])('%s', async (line, names) => {
  // On a busy machine, a response may take longer than a completion waits.
  await expect.poll(() => completed(line)).toEqual(names);
});

test('a server that does not respond costs a second', async () => {
  api.faults.next(() => true, { kind: 'hang' });
  const startMs = performance.now();
  expect(await completed('plan --kubeconfig=FILE -n ')).toEqual([]);
  expect(performance.now() - startMs).toBeLessThan(30_000);
});
