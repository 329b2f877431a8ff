import { expect, test } from 'vitest';
import type { Relief } from '../../../../src/api/node-pressure.ts';
import type { NodePressurePolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { apiPod, attempts, log, rule } from './builders.ts';
import { governed, Node } from './environment.ts';

const never = new AbortController().signal;

/** A demand that is never met. */
const relief: Relief = {
  ...{ signal: 'nodefs.available', until: 150 },
  isEnough: () => Promise.resolve(false),
};

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
  await node.pass(never, relief);
  expect(node.left).toEqual(['c2']);
});

test('a relief that the policy does not want any more is an ordinary pass', async () => {
  const node = nodeUnder(undefined);
  await node.pass(never, relief);
  expect(node.left).toEqual(['c1', 'c2']);
});

test('a relief is no second sighting of a pod that looks gone: it may follow a pass at once', async () => {
  const node = nodeUnder(pressurePolicy());
  node.logs.add(log('default_gone_uid-gone/main/0.log'));
  const isLeft = (): boolean => node.logs.paths.some((path) => path.includes('uid-gone'));
  await node.pass(never, relief);
  await node.pass();
  await node.pass(never, relief);
  expect(isLeft()).toBe(true);
  await node.pass();
  expect(isLeft()).toBe(false);
});

test('a pod that a relief finds to exist must look gone for two passes again', async () => {
  const node = nodeUnder(pressurePolicy());
  node.logs.add(log('default_gone_uid-gone/main/0.log'));
  const isLeft = (): boolean => node.logs.paths.some((path) => path.includes('uid-gone'));
  await node.pass();
  node.pods = [apiPod('pod'), apiPod('gone')];
  await node.pass(never, relief);
  node.pods = [apiPod('pod')];
  await node.pass();
  expect(isLeft()).toBe(true);
});

test('the gauge of due objects counts those for node pressure anew in each pass', async () => {
  const node = nodeUnder(pressurePolicy());
  node.governance = governed({ ...policyWith(pressurePolicy()), mode: 'DryRun' });
  const due = async (by?: Relief): Promise<string | undefined> => {
    await node.pass(never, by);
    return /due_objects\{reason="nodefs.available",mode="DryRun"\} (.*)/.exec(
      await node.registry.metrics(),
    )?.[1];
  };
  expect([await due(relief), await due(relief), await due()]).toEqual(['2', '2', '0']);
});
