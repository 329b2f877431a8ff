import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { LeftoversManager, type LeftoversDeps } from '../../../../src/agent/leftovers/manager.ts';
import { leftoverMetrics } from '../../../../src/agent/leftovers/metrics.ts';
import type { NamespaceStore } from '../../../../src/containerd/store.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { container, FakeRuntime } from '../../../fakes/runtime.ts';
import { blob, block, layer, lease, nothing } from '../stored.ts';

const never = new AbortController().signal;

/** A node on which containerd keeps one lease of nobody on a blob of 20 blocks. */
function node(over: Partial<LeftoversDeps> = {}) {
  const runtime = new FakeRuntime();
  const recorder = new FakeRecorder();
  const registry = new Registry();
  const log = new RecordingLogger();
  const stored: NamespaceStore = {
    ...nothing,
    leases: [lease('left', 'content', 'b')],
    blobs: [blob('b', 20)],
    snapshots: [],
  };
  const state = { stored, directories: 0 as number | undefined, isDown: false };
  const manager = new LeftoversManager({
    ...{ runtime, recorder, log, clock: new FakeClock(), own: leftoverMetrics(registry) },
    containerd: {
      read: () =>
        state.isDown
          ? Promise.reject(new Error('socket closed'))
          : Promise.resolve(new Map([['k8s.io', state.stored]])),
      measure: (snapshots) => Promise.resolve(new Map(snapshots.map((one) => [one, block]))),
    },
    directories: { count: () => Promise.resolve(state.directories) },
    node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' }),
    ...over,
  });
  return { manager, runtime, recorder, registry, log, state };
}

const orphan = (name: string) => layer(name, 0, '', { kind: 'other', sizeBytes: 'unknown' });

test('a pass finds the leftovers, measures writable snapshots, shows metrics and records one Event', async () => {
  const { manager, runtime, recorder, registry, state } = node();
  runtime.add(container('mine'));
  state.stored = { ...state.stored, snapshots: [orphan('k'), orphan('mine')] };
  await manager.collect(never);
  expect(manager.inventory).toMatchObject({
    leftovers: [
      { id: 'lease left', bytes: 20 * block },
      { id: 'snapshot overlayfs/k', bytes: block, isLowerBound: false },
    ],
    namespaces: [],
    directories: undefined,
  });
  const metrics = await registry.metrics();
  expect(metrics).toContain('dustpan_node_leftovers{kind="Lease"} 1');
  expect(metrics).toContain(`dustpan_node_leftover_bytes{kind="Lease"} ${20 * block}`);
  expect(metrics).toContain('dustpan_node_leftovers{kind="Download"} 0');
  expect(metrics).not.toContain('kind="Directory"');
  expect(recorder.events).toMatchObject([
    {
      reason: 'RuntimeLeftovers',
      note: 'containerd keeps for no image, container or sandbox: 1 unused lease, 80.0 KiB (left); 1 unused writable snapshot, 4.00 KiB (k). The NodeGCReport of the node lists more of them',
    },
  ]);
  await manager.collect(never);
  expect(recorder.events).toHaveLength(1);
});

test('what containerd deletes by itself is no Event', async () => {
  const { manager, recorder, state } = node();
  state.stored = { ...state.stored, leases: [] };
  await manager.collect(never);
  expect(manager.inventory).toMatchObject({ leftovers: [{ id: 'unreferenced' }] });
  expect(recorder.events).toEqual([]);
});

test('directories are counted in two passes, and the smaller difference is shown', async () => {
  const { manager, registry, state } = node();
  const counted = [];
  for (const directories of [5, 3, undefined, 4, 6]) {
    state.directories = directories;
    await manager.collect(never);
    counted.push(
      manager.inventory && 'at' in manager.inventory && manager.inventory.directories?.withoutSnapshot,
    );
  }
  expect(counted).toEqual([undefined, 3, undefined, undefined, 4]);
  expect(await registry.metrics()).toContain('dustpan_node_leftovers{kind="Directory"} 4');
});

test('without containerd they are unknown, and have no metrics', async () => {
  const { manager, registry, log } = node({
    containerd: { read: () => Promise.resolve(undefined), measure: () => Promise.resolve(new Map()) },
  });
  await manager.collect(never);
  expect(manager.inventory).toEqual({ unknown: 'the runtime is not containerd' });
  expect(await registry.metrics()).not.toContain('dustpan_node_leftovers{');
  expect(log.lines).toEqual([]);
});

test('after a failed read they are unknown, with the reason; it is logged once', async () => {
  const { manager, log, state } = node();
  state.directories = 9;
  await manager.collect(never);
  state.isDown = true;
  await manager.collect(never);
  await manager.collect(never);
  expect(manager.inventory).toEqual({ unknown: 'socket closed' });
  expect(log.lines).toMatchObject([{ level: 'warn', message: 'leftovers are unknown' }]);
  state.isDown = false;
  await manager.collect(never);
  expect(manager.inventory).toMatchObject({ directories: undefined });
});

test('an aborted pass rejects, and changes nothing', async () => {
  const { manager, state } = node();
  await manager.collect(never);
  state.isDown = true;
  await expect(manager.collect(AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  expect(manager.inventory).toHaveProperty('leftovers');
});
