import { expect } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type {
  CheckpointsPolicy,
  ContainerGcPolicy,
  LogsPolicy,
  OrphansPolicy,
} from '../../../../src/api/policy/policy.ts';
import type { ContainerGcPlan, ContainerGcTarget } from '../../../../src/agent/containergc/facts.ts';
import type { ContainerGcFacts, Given, KnownPod } from '../../../../src/agent/containergc/facts.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../../../src/cri/runtime.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import type { FoundOrphan } from '../../../../src/node/storage/orphans-finder.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { governedNode } from '../builders.ts';

export const logsRule = (over: Partial<LogsPolicy> = {}): LogsPolicy => ({
  orphanedDirectories: true,
  brokenLinks: true,
  maxRotatedPerContainer: undefined,
  maxBytesPerPod: undefined,
  warnBytesPerContainer: undefined,
  ...over,
});

/** The defaults of the CRD, with a rule for logs. */
export const rule = (over: Partial<ContainerGcPolicy> = {}): ContainerGcPolicy => ({
  minimumAgeMs: 0,
  maxPerPodContainer: 1,
  maxContainers: undefined,
  sandboxes: true,
  logs: logsRule(),
  ...over,
});

/** A policy with this rule governs the node. */
export const governedBy = (containerGC: ContainerGcPolicy): NodeGovernance => governedNode({ containerGC });

export const agoNs = (minutes: number): bigint => BigInt(minutesAgo(minutes)) * 1_000_000n;

type Over = Partial<RuntimeContainer> & { readonly pod?: string };

/** An exited container that is so many minutes old. */
export const dead = (id: string, minutes: number, over: Over = {}): RuntimeContainer =>
  container(id, { state: 'Exited', createdAtNs: agoNs(minutes), ...over });

/** A sandbox that is not ready, so many minutes old. */
export const down = (pod: string, minutes: number, over: Partial<RuntimeSandbox> = {}): RuntimeSandbox =>
  sandbox(pod, { state: 'NotReady', createdAtNs: agoNs(minutes), ...over });

export const staticSource = { 'kubernetes.io/config.source': 'file' } as const;

/** A pod in the API; with `configHash` the mirror of a static pod. */
export const apiPod = (pod: string, configHash?: string): KnownPod => ({ uid: `uid-${pod}`, configHash });

/** A finished pod in the API. */
export const finishedPod = (pod: string, over: Partial<KnownPod> = {}): KnownPod => ({
  ...apiPod(pod),
  phase: 'Succeeded',
  ...over,
});

export const evictedPod = (pod: string, over: Partial<KnownPod> = {}): KnownPod =>
  finishedPod(pod, { phase: 'Failed', evicted: true, ...over });

/** A deleted pod whose grace period ended so many minutes ago. */
export const deletedPod = (pod: string, minutes: number): KnownPod => ({
  ...apiPod(pod),
  deletionAtMs: minutesAgo(minutes),
});

export const log = (path: string, over: Partial<LogEntry> = {}): LogEntry => ({
  path: `/var/log/pods/${path}`,
  bytes: 100,
  mtimeMs: minutesAgo(30),
  ...over,
});

export const link = (name: string, target: string): LogEntry => ({
  path: `/var/log/containers/${name}`,
  bytes: 0,
  mtimeMs: minutesAgo(30),
  target: target.startsWith('/') || target.startsWith('.') ? target : `/var/log/pods/${target}`,
});

export const orphanUid = '01234567-89ab-cdef-0123-456789abcdef';

/** A directory or control group of an unknown pod, without an obstacle. */
export const orphan = (over: Partial<FoundOrphan> = {}): FoundOrphan => ({
  ...{ path: `/pods/${over.podUid ?? orphanUid}`, podUid: orphanUid },
  ...{ sinceMs: 1, bytes: 10, obstacle: undefined, holders: [], volumeDataMs: undefined, ...over },
});

export const noCheckpointLimits: CheckpointsPolicy = {
  maxPerPod: undefined,
  maxAgeMs: undefined,
  maxBytes: undefined,
};

export const removingOrphans: OrphansPolicy = { podCgroups: 'Remove', podDirectories: 'Remove' };

type NodeState = Partial<Omit<ContainerGcFacts, 'logs' | 'sightings'>> & {
  readonly logs?: readonly LogEntry[] | undefined;
  /** In how many passes each UID looked gone. */
  readonly sightings?: Readonly<Record<string, number>>;
};

const listingOf = (entries: readonly LogEntry[]): LogListing => ({
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  entries,
  directories: [],
  complete: true,
});

/** A node with these objects only; `undefined` = unknown. */
export function factsOf(node: NodeState): ContainerGcFacts {
  return {
    containers: [],
    sandboxes: [],
    pods: [],
    ...node,
    logs: 'logs' in node && node.logs === undefined ? undefined : listingOf(node.logs ?? []),
    sightings: new Map(Object.entries(node.sightings ?? {})),
  };
}

export const planOf = (
  node: NodeState,
  over: Partial<ContainerGcPolicy> = {},
  given: Partial<Given> = {},
): ContainerGcPlan =>
  planContainerGc(factsOf(node), { governance: governedBy(rule(over)), now, assumeGone: true, ...given });

export const nameOf = (target: ContainerGcTarget): string =>
  'id' in target ? target.id : target.path.replace(/^\/var\/log\//, '');

/** The removed objects in order, each with its reason. */
export const removalsOf = ({ removals }: ContainerGcPlan): string[] =>
  removals.map(({ target, reason }) => `${nameOf(target)} ${reason}`);

/** The kept objects, each with its reason and the time when it becomes due. */
export const keptOf = ({ kept }: ContainerGcPlan): string[] =>
  kept
    .map(({ target, reason, eligibleAt }) =>
      [nameOf(target), reason, eligibleAt?.toISOString().slice(11, 19)].filter(Boolean).join(' '),
    )
    .sort();

export interface Row {
  readonly name: string;
  readonly node: NodeState;
  readonly policy?: Partial<ContainerGcPolicy>;
  readonly given?: Partial<Given>;
  readonly removed: readonly string[];
  /** In any order. */
  readonly kept?: readonly string[];
}

export function checkRow({ node, policy: over, given, removed, kept }: Omit<Row, 'name'>): void {
  const plan = planOf(node, over, given);
  expect(removalsOf(plan)).toEqual(removed);
  if (kept !== undefined) expect(keptOf(plan)).toEqual([...kept].sort());
}

/** So many dead attempts of one container, a minute apart, oldest first. */
export const attempts = (count: number, over: Over = {}, prefix = 'c'): RuntimeContainer[] =>
  Array.from({ length: count }, (_, i) => dead(`${prefix}${i}`, 60 - i, { attempt: i, ...over }));
