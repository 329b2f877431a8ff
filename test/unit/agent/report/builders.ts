import type {
  ContainerInventory,
  OrphanCount,
  OrphanInventory,
} from '../../../../src/agent/containergc/facts.ts';
import type { ImageInventory } from '../../../../src/agent/imagegc/facts.ts';
import type { NodePassReport } from '../../../../src/gc/pass.ts';
import type { NodeUnit } from '../../../../src/gc/decision.ts';
import { expect } from 'vitest';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusContainersLastRemovedItem as RemovedItem,
  NodeGCReportStatusLargestOffender,
} from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { ReportFacts, UnitPasses } from '../../../../src/agent/report/facts.ts';
import { usedPercent, type MountedImageDisk } from '../../../../src/node/disk/filesystem.ts';
import { defaultsOf, minutesAgo, noHold, now } from '../../../builders.ts';
import { schemaChecker } from '../../../sandbox/api/schema.ts';
import { nodeGcReportCrd } from '../../api/crd.ts';
import { governedNode } from '../builders.ts';
import { noPins } from '../imagegc/builders.ts';
import type { LeftoverInventory } from '../../../../src/agent/leftovers/facts.ts';
import type { StorageWarning } from '../../../../src/agent/localstorage/facts.ts';

export const gib = 1024 ** 3;

const checkCrd = schemaChecker(nodeGcReportCrd);

/** Expects that an API server accepts the status, and drops no field of it. */
export const expectStorable = (status: NodeGCReportStatus): void => {
  const names = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'n' } };
  const report = { ...names, status };
  expect(checkCrd(report)).toEqual({ object: report, problems: [] });
};

/** The defaults of the API, and one pattern to keep. */
const imageGc: ImageGcPolicy = {
  ...defaultsOf('imageGC'),
  kubeletHighThresholdPercent: 95,
  hold: noHold,
  keep: ['registry.example.com/base/*'],
};

const containerGC = defaultsOf('containerGC');

export const governed = (over: Partial<ImageGcPolicy> = {}): ReturnType<typeof governedNode> =>
  governedNode({ imageGC: { ...imageGc, ...over }, containerGC });

export const pass = (unit: NodeUnit, over: Partial<NodePassReport> = {}): NodePassReport => ({
  ...{ unit, at: now, result: 'Idle', removed: 0, freedBytes: 0, errors: 0, message: undefined },
  ...over,
});

export const passes = (...reports: readonly NodePassReport[]): UnitPasses[] =>
  reports.map((last) => ({ last, removedTotal: last.removed, freedBytesTotal: last.freedBytes }));

export const disk = (usedGib: number, over: Partial<MountedImageDisk> = {}): MountedImageDisk => {
  const bytes = { capacityBytes: 100 * gib, availableBytes: (100 - usedGib) * gib };
  return {
    ...{ ...bytes, usedPercent: usedPercent(bytes), inodes: 1000, inodesFree: 900 },
    ...{ device: 1, mountpoint: '/var/lib/containerd', usedBytes: 10 * gib, inodesUsed: 50 },
    ...over,
  };
};

const some = (count: number): { count: number; bytes: number } => ({ count, bytes: count * gib });

export const images = (over: Partial<ImageInventory> = {}): ImageInventory => ({
  ...{ total: some(10), inUse: some(5), pinned: some(1), pins: noPins, kept: some(2), removable: some(2) },
  ...{ collectable: some(3), listed: [], packed: 'unsupported', disk: undefined, offenders: [] },
  ...over,
});

export const offender = (
  over: Partial<NodeGCReportStatusLargestOffender>,
): NodeGCReportStatusLargestOffender => ({
  ...{ kind: 'Image', id: undefined, name: undefined, namespace: undefined, bytes: 1, reason: undefined },
  ...over,
});

export const containers: ContainerInventory = {
  containers: { total: 20, running: 15, removable: 3 },
  sandboxes: { total: 12, removable: 2 },
  logs: { bytes: 5000, removableBytes: 100, byPod: new Map() },
  checkpoints: {
    ...{ total: 0, bytes: 0, removable: 0, removableBytes: 0 },
    ...{ isReadOnly: false, isApart: false },
  },
  orphans: undefined,
  offenders: [],
};

/** An object that was removed now, other than an image. */
export const removedItem = (kind: RemovedItem['kind'], over: Partial<RemovedItem> = {}): RemovedItem => ({
  ...{ kind, id: 'x', reason: 'Space', policy: 'nodes', time: '2026-01-15T12:00:00Z' },
  ...over,
});

/** Orphaned resources in one place. */
export const orphanCount = (over: Partial<OrphanCount> = {}): OrphanCount => ({
  ...{ count: 4, bytes: 400, isReadOnly: false },
  ...over,
});

/** Orphaned resources; a place that is not given was not searched. */
export const orphanInventory = (over: Partial<OrphanInventory> = {}): OrphanInventory => ({
  ...{ podDirectories: undefined, logDirectories: undefined, podCgroups: undefined },
  ...over,
});

/** What containerd keeps for nobody. */
export const leftovers = (over: Partial<LeftoverInventory> = {}): LeftoverInventory => {
  const sinceMs = minutesAgo(180);
  return {
    at: now,
    leftovers: [
      {
        ...{ kind: 'Lease', id: 'lease 2', name: '2', holder: 'lease 2' },
        ...{ sinceMs, bytes: 10, isLowerBound: false },
      },
      {
        ...{ kind: 'Download', id: 'lease 1', name: 'docker.io/library/nginx', holder: 'lease 1' },
        ...{ sinceMs, bytes: 20, isLowerBound: true },
      },
    ],
    removableBytes: 20,
    namespaces: [{ name: 'moby', bytes: 7, isLowerBound: false }],
    directories: { withoutSnapshot: 1, missing: 0 },
    ...over,
  };
};

/** A node without problems. */
export const facts = (over: Partial<ReportFacts> = {}): ReportFacts => ({
  agentVersion: '1.0.0',
  runtime: { name: 'containerd', version: 'v2.3.0', apiVersion: 'v1' },
  governance: governed(),
  startedAt: now,
  passes: passes(pass('imagegc'), pass('containergc')),
  earlierUnits: [],
  ...{ images: images(), containers, storage: undefined, pressure: undefined, usage: undefined },
  lastRemoved: { images: [], others: [] },
  ...{ orphans: undefined, leftovers: undefined },
  ...{ imageDisk: disk(50), nodeDisk: undefined, troubles: [] },
  ...over,
});

/** A warning about an emptyDir of 100 bytes. */
export const storageWarning = (
  name: string,
  { percent = 80, usedBytes = 81 }: { readonly percent?: number; readonly usedBytes?: number } = {},
): StorageWarning => ({
  pod: { namespace: 'web', name, uid: `uid-${name}` },
  excess: {
    ...{ signal: 'emptydirfs.limit', subject: 'tmp', isDefault: false, evictAtPercent: 100 },
    ...{ usedBytes, limit: { bytes: 100, text: '100' } },
  },
  ...{ percent, growthBytesPerMinute: undefined, secondsLeft: undefined, sinceMs: minutesAgo(3) },
});

export const evictionRequest = (name: string, over: Partial<EvictionRequest> = {}): EvictionRequest => ({
  pod: { namespace: 'web', name, uid: `uid-${name}` },
  ...{ signal: 'ephemeralpodfs.limit', subject: undefined, observedBytes: 150, limitBytes: 100 },
  ...{ shortage: undefined, observedAtMs: now.getTime(), gracePeriodSeconds: undefined },
  ...over,
});
