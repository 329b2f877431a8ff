import { expect, test } from 'vitest';
import type { NodePressurePolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { pressurePolicy, reliefOf } from '../nodepressure/builders.ts';
import { apiPod, attempts, log, rule } from './builders.ts';
import { governed, Node } from './environment.ts';

const policyWith = (nodePressure: NodePressurePolicy | undefined): Policy => ({
  ...policy({ pods: undefined }),
  nodes: nodesRules({ containerGC: rule({ maxPerPodContainer: 2 }), nodePressure }),
});

function nodeUnder(nodePressure: NodePressurePolicy | undefined): Node {
  const node = new Node(policyWith(nodePressure));
  node.pods = [apiPod('pod')];
  node.runtime.add(...attempts(3));
  return node;
}

test('a relief removes what the limits would keep', async () => {
  const node = nodeUnder(pressurePolicy());
  await node.relieve();
  expect(node.left).toEqual(['c2']);
  expect(node.lastRemoved.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
    'c1 nodefs.available',
    'c0 DeadContainer',
  ]);
});

test('a relief that the policy does not want any more is an ordinary pass', async () => {
  const node = nodeUnder(undefined);
  await node.relieve();
  expect(node.left).toEqual(['c1', 'c2']);
});

const hasLog = ({ logs }: Node): boolean => logs.paths.some((path) => path.includes('uid-gone'));

test('a relief is no second sighting of a pod that looks gone: it may follow a pass at once', async () => {
  const node = nodeUnder(pressurePolicy());
  node.logs.add(log('default_gone_uid-gone/main/0.log'));
  await node.relieve();
  await node.pass();
  await node.relieve();
  expect(hasLog(node)).toBe(true);
  // A relief that finds the pod begins the count anew.
  node.pods = [apiPod('pod'), apiPod('gone')];
  await node.relieve();
  node.pods = [apiPod('pod')];
  await node.pass();
  expect(hasLog(node)).toBe(true);
  await node.pass();
  expect(hasLog(node)).toBe(false);
});

test('a relief first removes what is over the limits, and stops when enough is available', async () => {
  const node = new Node(policyWith(pressurePolicy()));
  node.pods = [apiPod('pod')];
  node.runtime.add(...attempts(6));
  let missing = 4;
  await node.relieve(reliefOf({ missing: () => Promise.resolve((missing -= 1)) }));
  expect(node.lastRemoved.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
    ...['c3', 'c2', 'c1', 'c0'].map((id) => `${id} DeadContainer`),
  ]);
  expect(node.left).toEqual(['c4', 'c5']);
});

test('in mode DryRun a relief returns what it would remove, with the bytes of the logs', async () => {
  const node = nodeUnder(pressurePolicy());
  node.governance = governed({ ...policyWith(pressurePolicy()), mode: 'DryRun' });
  node.logs.add(log('default_pod_uid-pod/main/0.log', { bytes: 7 }));
  node.logs.add(log('default_pod_uid-pod/main/2.log', { bytes: 100 }));
  expect(await node.relieve()).toEqual({
    ...{ result: 'Exhausted', planned: { ids: new Set(['c0', 'c1']), bytes: 7 } },
  });
  expect(node.changes).toEqual([]);
});

test('a container that cannot be removed is a warning, not the end of a relief', async () => {
  const node = nodeUnder(pressurePolicy());
  node.runtime.fail('removeContainer');
  expect((await node.relieve()).result).toBe('Exhausted');
  expect(node.warnings.map(({ message }) => message)).toContain(
    'not everything could be removed for node pressure',
  );
  node.runtime.fail('listContainers');
  await expect(node.relieve()).rejects.toThrow('listing containers');
});

test('a relief that ends early, or without the pods, leaves more to remove', async () => {
  const node = nodeUnder(pressurePolicy());
  node.pods = undefined;
  expect((await node.relieve()).result).toBe('MoreLeft');
  node.pods = [apiPod('pod')];
  node.runtime.add(...attempts(2, {}, 'd'));
  node.live = new Error('timeout');
  const changes = [...node.changes];
  expect((await node.relieve()).result).toBe('MoreLeft');
  expect(node.changes).toEqual(changes);
});
