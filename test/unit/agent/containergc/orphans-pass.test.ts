import { expect, test } from 'vitest';
import type { OrphansPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { orphan, orphanUid as uid, removingOrphans as removing } from './builders.ts';
import { Node } from './environment.ts';

const policyWith = (orphans: OrphansPolicy | undefined, mode: Policy['mode'] = 'Enforce'): Policy => ({
  ...policy({ pods: undefined, mode }),
  nodes: nodesRules({ orphans }),
});
function nodeWithOrphans(by = policyWith(removing)): Node {
  const node = new Node(by);
  node.orphans.groups.push(orphan({ path: '/cgroup' }));
  node.orphans.directories.push(orphan({ path: '/pods/a' }));
  return node;
}

const removalsOf = ({ orphans }: Node): readonly string[] => orphans.calls.filter((call) => call !== 'list');

test('what two passes found is removed after a live read of the pod, control groups first', async () => {
  const node = nodeWithOrphans();
  await node.pass();
  expect(removalsOf(node)).toEqual([]);
  await node.pass();
  expect(removalsOf(node)).toEqual(['remove /cgroup', 'remove /pods/a']);
  expect(node.podRequests).toEqual([`/ ${uid}`]);
  expect(node.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 2, freedBytes: 14, errors: 0 });
  expect(node.inventories.at(-1)?.orphans?.podDirectories).toMatchObject({
    ...{ count: 1, bytes: 10 },
    largest: [{ path: '/pods/a', podUID: uid, since: '1970-01-01T00:00:00Z', reason: 'OrphanedDirectory' }],
  });
  await node.pass();
  expect(node.inventories.at(-1)?.orphans?.podDirectories?.count).toBe(0);
});

test.each([
  { name: 'a dry run', by: policyWith(removing, 'DryRun') },
  { name: 'Report', by: policyWith({ podCgroups: 'Report', podDirectories: 'Report' }) },
  { name: 'no block', by: policyWith(undefined) },
])('$name removes nothing and names everything', async ({ by }) => {
  const node = nodeWithOrphans(by);
  await node.passTwice();
  expect(removalsOf(node)).toEqual([]);
  expect(node.inventories.at(-1)?.orphans).toMatchObject({
    ...{ podDirectories: { count: 1 }, podCgroups: { count: 1 }, logDirectories: undefined },
  });
});

test('a pod that the API server has is not touched, and starts anew', async () => {
  const node = nodeWithOrphans();
  node.podResponses.set(uid, 'exists');
  await node.passTwice();
  expect(removalsOf(node)).toEqual([]);
  node.podResponses.delete(uid);
  await node.pass();
  expect(removalsOf(node)).toEqual([]);
  await node.pass();
  expect(removalsOf(node)).toHaveLength(2);
});

test('data of a CSI volume is removed only while the clocks agree, and not if it is newer than planned', async () => {
  const node = nodeWithOrphans();
  node.orphans.directories.splice(0, 1, orphan({ path: '/pods/a', volumeDataMs: 5 }));
  node.live = { clockSkewMs: 3_600_000 };
  await node.passTwice();
  expect(removalsOf(node)).toEqual(['remove /cgroup']);
  node.live = {};
  await node.pass();
  expect(removalsOf(node)).toEqual(['remove /cgroup', 'data of 5', 'remove /pods/a']);
});

test('one warning names the Helm value while a place is read-only', async () => {
  const node = nodeWithOrphans();
  node.orphans.directories.splice(0, 1, orphan({ path: '/pods/a', obstacle: 'ReadOnly' }));
  for (let i = 0; i < 4; i += 1) await node.pass();
  expect(removalsOf(node)).toEqual(['remove /cgroup']);
  expect(node.warnings).toMatchObject([
    {
      message: 'some resources cannot be removed',
      fields: { why: expect.stringContaining('set agent.orphans.podDirectories=true') as string },
    },
  ]);
  expect(node.inventories.at(-1)?.orphans?.podDirectories?.isReadOnly).toBe(true);
  node.orphans.directories.splice(0, 1);
  await node.pass();
  node.orphans.directories.push(orphan({ path: '/pods/a', obstacle: 'ReadOnly' }));
  await node.passTwice();
  expect(node.warnings).toHaveLength(2);
});

test('one warning while VolumeAttachments cannot be read', async () => {
  const node = nodeWithOrphans();
  node.orphans.directories.splice(0, 1, orphan({ path: '/pods/a', obstacle: 'AttachmentsUnknown' }));
  for (let i = 0; i < 4; i += 1) await node.pass();
  expect(removalsOf(node)).toEqual(['remove /cgroup']);
  const why = expect.stringContaining('the right to get volumeattachments') as string;
  expect(node.warnings).toMatchObject([{ fields: { why } }]);
});

test.each(['list', 'inspect'])('a search that fails (%s) costs a warning, not the pass', async (call) => {
  const node = nodeWithOrphans();
  await node.passTwice();
  node.orphans.failing.add(call);
  await node.pass();
  expect(node.warnings).toMatchObject([{ message: 'searching orphaned resources failed' }]);
  expect(node.reports.at(-1)).toMatchObject({ errors: 0 });
  expect(node.inventories.at(-1)?.orphans).toBeUndefined();
});

test('while the pods are not known nothing is searched', async () => {
  const node = nodeWithOrphans();
  node.pods = undefined;
  await node.passTwice();
  expect(node.inventories.at(-1)?.orphans).toBeUndefined();
  expect(removalsOf(node)).toEqual([]);
});

test('places are listed before the runtime and the pods', async () => {
  const node = nodeWithOrphans();
  const calls: string[] = [];
  node.runtime.listContainers = () => {
    calls.push(...node.orphans.calls, 'listContainers');
    return Promise.resolve([]);
  };
  await node.pass();
  expect(calls).toEqual(['list', 'listContainers']);
});
