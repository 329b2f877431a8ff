import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { container } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { blob, block, layer, lease } from '../stored.ts';
import { governed, Node, oneLease, removing } from './environment.ts';

const orphan = (name: string) => layer(name, 0, '', { kind: 'other', sizeBytes: 'unknown' });

describe('a search', () => {
  test('finds the leftovers, measures writable snapshots, shows metrics and records one Event', async () => {
    const node = new Node();
    node.governance = keptBy('NoPolicy');
    node.runtime.add(container('mine'));
    node.stored = { ...oneLease, snapshots: [orphan('k'), orphan('mine')] };
    await node.pass();
    expect(node.manager.inventory).toMatchObject({
      leftovers: [
        { id: 'lease left', bytes: 20 * block, reason: 'NoPolicy' },
        { id: 'snapshot overlayfs/k', bytes: block, isLowerBound: false },
      ],
      namespaces: [],
      directories: undefined,
    });
    const metrics = await node.registry.metrics();
    expect(metrics).toContain('dustpan_node_leftovers{kind="Lease"} 1');
    expect(metrics).toContain(`dustpan_node_leftover_bytes{kind="Lease"} ${20 * block}`);
    expect(metrics).toContain('dustpan_node_leftovers{kind="Download"} 0');
    expect(metrics).not.toContain('kind="Directory"');
    expect(node.recorder.events).toMatchObject([
      {
        reason: 'RuntimeLeftovers',
        note: 'containerd keeps for no image, container or sandbox: 1 unused lease, 80.0 KiB (left); 1 unused writable snapshot, 4.00 KiB (k). The NodeGCReport of the node lists more of them',
      },
    ]);
    await node.pass();
    expect(node.recorder.events).toHaveLength(1);
    expect(node.reports.map(({ result }) => result)).toEqual(['Idle', 'Idle']);
  });

  test('what containerd deletes by itself is no Event', async () => {
    const node = new Node();
    node.stored = { ...oneLease, leases: [] };
    await node.pass();
    expect(node.manager.inventory).toMatchObject({ leftovers: [{ id: 'unreferenced' }] });
    expect(node.recorder.events).toEqual([]);
  });

  test('directories are counted in two passes, and the smaller difference is shown', async () => {
    const node = new Node();
    const counted = [];
    for (const directories of [5, 3, undefined, 4, 6]) {
      node.directories = directories;
      await node.pass();
      const { inventory } = node.manager;
      counted.push(inventory && 'at' in inventory && inventory.directories?.withoutSnapshot);
    }
    expect(counted).toEqual([undefined, 3, undefined, undefined, 4]);
    expect(await node.registry.metrics()).toContain('dustpan_node_leftovers{kind="Directory"} 4');
  });

  test('before the first pass and without containerd they are unknown, and have no metrics', async () => {
    const node = new Node();
    expect(await node.registry.metrics()).not.toMatch(/dustpan_node_leftover(s|_bytes)\{/);
    node.stored = undefined;
    await node.pass();
    expect(node.manager.inventory).toEqual({ unknown: 'the runtime is not containerd' });
    expect(await node.registry.metrics()).not.toContain('dustpan_node_leftovers{');
    expect(node.reports).toMatchObject([{ result: 'Idle', errors: 0 }]);
  });

  test('after a failed read they are unknown, with the reason, and the pass has failed', async () => {
    const node = new Node();
    node.directories = 9;
    await node.pass();
    node.error = new Error('socket closed');
    await expect(node.pass()).rejects.toThrow('searching leftovers');
    expect(node.manager.inventory).toEqual({ unknown: 'searching leftovers: socket closed' });
    expect(node.reports.at(-1)).toMatchObject({ result: 'Failed', errors: 1 });
    node.error = undefined;
    await node.pass();
    // Both need two passes again.
    expect(node.manager.inventory).toMatchObject({ directories: undefined });
    expect(node.reasons).toEqual(['lease left: Quarantined']);
  });

  test('an aborted pass rejects, and changes nothing', async () => {
    const node = new Node();
    await node.pass();
    node.error = new Error('aborted');
    await expect(node.pass(AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    expect(node.manager.inventory).toHaveProperty('leftovers');
  });
});

describe('a removal', () => {
  test('deletes the lease in the second pass, and reports what it frees', async () => {
    const node = new Node();
    await node.pass();
    expect(node.changes).toEqual([]);
    expect(node.reasons).toEqual(['lease left: Quarantined']);
    await node.passTwice();
    expect(node.changes).toEqual(['lease left']);
    expect(node.reports[1]).toMatchObject({ result: 'Succeeded', removed: 1, freedBytes: 20 * block });
    expect(node.manager.lastRemoved).toMatchObject([
      {
        ...{ kind: 'Leftover', id: 'lease left', name: 'left', reason: 'UnusedLease', policy: 'default' },
        bytes: 20 * block,
      },
    ]);
    expect(node.log.lines).toContainEqual(
      expect.objectContaining({
        message: 'removed leftover of containerd',
        fields: expect.objectContaining({
          ...{ leftover: 'lease left', name: 'left', holder: 'lease left', reason: 'UnusedLease' },
        }) as object,
      }),
    );
  });

  test.each([
    ['a download without a lease', { ingests: [ingest('ref')] }, ['abort ref']],
    ['what nothing refers to', { blobs: [blob('b', 1)] }, ['collect']],
    ['an unused writable snapshot', { snapshots: [orphan('k')] }, ['collect']],
    [
      'an interrupted pull',
      { leases: [lease('pull', 'ingests', 'ref')], ingests: [ingest('ref')] },
      ['lease pull'],
    ],
    ['nothing, of a label of another client', { blobs: [blob('b', 1, { [root]: '' })] }, []],
    [
      'nothing, of a flat lease',
      { leases: [lease('left', 'content', 'b', { 'containerd.io/gc.flat': '' })] },
      [],
    ],
    ['nothing, of a lease that may be a sandbox', { leases: [lease('a'.repeat(64), 'content', 'b')] }, []],
  ])('of %s', async (_, more, changes) => {
    const node = new Node();
    node.stored = { ...oneLease, leases: [], blobs: [], ...more };
    await node.passTwice();
    expect(node.changes).toEqual(changes);
  });

  test('can free what waits or is due, until it is made; nothing where the policy only reports', async () => {
    const node = new Node();
    const removable = () =>
      node.manager.inventory && 'at' in node.manager.inventory && node.manager.inventory.removableBytes;
    await node.pass();
    expect(removable()).toBe(20 * block);
    await node.pass();
    expect(node.changes).toEqual(['lease left']);
    expect(removable()).toBe(0);
    node.stored = oneLease;
    node.governance = governed(removing, 'DryRun');
    await node.passTwice();
    expect(removable()).toBe(20 * block);
    node.governance = governed({ ...removing, leases: 'Report' });
    await node.passTwice();
    expect(removable()).toBe(0);
  });

  test('is not made in mode DryRun, nor where the policy only reports', async () => {
    for (const governance of [governed(removing, 'DryRun'), governed({ ...removing, leases: 'Report' })]) {
      const node = new Node();
      node.governance = governance;
      await node.passTwice();
      expect(node.changes).toEqual([]);
    }
  });

  test('waits while a download grows, and ends when it has changed since the plan', async () => {
    const node = new Node();
    const growing = (receivedBytes: number) => ({
      ...oneLease,
      ...{ leases: [], blobs: [], ingests: [{ ...ingest('ref'), receivedBytes }] },
    });
    node.stored = growing(1);
    await node.pass();
    node.stored = growing(2);
    await node.pass();
    expect(node.reasons).toEqual(['download ref: Quarantined']);
    // The second read of a pass is the one right before the removal.
    let reads = 0;
    node.onRead = () => {
      reads += 1;
      if (reads === 2) node.stored = growing(3);
    };
    await node.pass();
    expect(node.changes).toEqual([]);
    expect(node.reasons).toEqual(['download ref: InterruptedDownload']);
  });

  test('is not made of what is gone, or in use, right before it', async () => {
    const node = new Node();
    await node.pass();
    let reads = 0;
    node.onRead = () => {
      reads += 1;
      if (reads === 2) node.stored = { ...oneLease, leases: [] };
    };
    await node.pass();
    expect(node.changes).toEqual([]);
    expect(node.reports.at(-1)).toMatchObject({ removed: 0, errors: 0 });
  });

  test.each([
    ['the API server does not respond', (node: Node) => (node.live = new Error('down')), 'Unknown'],
    ['the policy is now another', (node: Node) => (node.live = { governance: keptBy('NoPolicy') }), 'Short'],
  ])('is not made while %s', async (_, change, result) => {
    const node = new Node();
    await node.pass();
    change(node);
    await node.pass();
    expect(node.changes).toEqual([]);
    expect(node.reports.at(-1)).toMatchObject({ result });
  });

  test('that fails is tried again after a pause', async () => {
    const node = new Node();
    await node.pass();
    node.failing = new RuntimeError('Leases/Delete: refused', 'other');
    await expect(node.pass()).rejects.toThrow('removing leftovers: 1 of 1 failed');
    expect(node.reports.at(-1)).toMatchObject({ result: 'Failed', errors: 1 });
    node.failing = undefined;
    await node.pass();
    expect(node.reasons).toEqual(['lease left: RemovalFailed']);
    node.clock.advance(600_000);
    await node.pass();
    expect(node.changes).toEqual(['lease left', 'lease left']);
  });

  test('does not begin after a jump of the clock', async () => {
    const node = new Node();
    await node.pass();
    node.clock.stepWall(3_600_000);
    await node.pass();
    expect(node.reasons).toEqual(['lease left: ClockUnsure']);
  });
});

const root = 'containerd.io/gc.root';

function ingest(ref: string) {
  const times = { startedAtSeconds: 0, updatedAtSeconds: 1 };
  return { ref, ...times, receivedBytes: 4096, totalBytes: 0, expectedDigest: '' };
}
