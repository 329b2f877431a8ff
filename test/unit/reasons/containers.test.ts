import { expect, test } from 'vitest';
import {
  containerKeepReasons,
  containerRemoveReasons,
  nodeKeepReasons,
  type ContainerKeepReason,
  type ContainerRemoveReason,
} from '../../../src/api/reasons.ts';
import { type DiskSignal } from '../../../src/api/node-pressure.ts';
import type { ContainerGcPolicy } from '../../../src/api/policy/policy.ts';
import type { LogEntry, LogListing } from '../../../src/node/logs/list.ts';
import type { FoundOrphan, OrphanObstacle, OrphansFound } from '../../../src/node/storage/orphans-finder.ts';
import type { NodePart } from '../../../src/snapshot/plan-facts.ts';
import { node } from '../../builders.ts';
import { container, sandbox } from '../../fakes/runtime.ts';
import {
  dead,
  down,
  link,
  log,
  logsRule,
  planOf,
  rule,
  staticSource,
} from '../agent/containergc/builders.ts';
import {
  boundPod,
  decided,
  totals,
  invalidPolicy,
  keepMark,
  nodesBy,
  type Fixture,
} from './reasons.fixture.ts';

type ContainerReason = ContainerRemoveReason | ContainerKeepReason;
/** A snapshot does not show that the clock jumped between two passes; only the agent knows. */
type AgentReason = 'ClockUnsure' | DiskSignal;

interface Row extends Fixture {
  /** Id or path of the object. */
  readonly of: string;
}

const listing = (...entries: readonly LogEntry[]): LogListing => ({
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  entries,
  directories: [],
  complete: true,
});
const by = (over: Partial<ContainerGcPolicy> = {}): Pick<Fixture, 'policies'> =>
  nodesBy({ containerGC: rule(over) });

/** A node with the pod `pod`. */
const withNode = (over: Partial<NodePart>): Pick<Fixture, 'part'> => ({
  part: { pods: [boundPod('pod')], ...over },
});
const deadOne = withNode({ containers: [dead('a', 60)] });
const attempts = withNode({ containers: [dead('a', 60), dead('newer', 30, { attempt: 1 })] });
const goneLog = 'default_gone_uid-gone/main/0.log';

const removing = nodesBy({ orphans: { podCgroups: 'Remove', podDirectories: 'Remove' } });
const left = (obstacle?: OrphanObstacle): FoundOrphan => ({
  ...{ path: '/left/over', podUid: '01234567-89ab-cdef-0123-456789abcdef', sinceMs: 0, bytes: 1, obstacle },
});
const leftBy = (orphans: Partial<OrphansFound>): Pick<Fixture, 'part'> =>
  withNode({
    orphans: { podDirectories: undefined, logDirectories: undefined, podCgroups: undefined, ...orphans },
  });
const keptFor = (obstacle: OrphanObstacle): Row => ({
  ...{ ...removing, ...leftBy({ podDirectories: [left(obstacle)] }), assumeElapsed: true, of: '/left/over' },
});
const obstacleRows = {
  Mounted: keptFor('Mounted'),
  MountsUnknown: keptFor('MountsUnknown'),
  NotEmpty: keptFor('NotEmpty'),
  ReadOnly: keptFor('ReadOnly'),
  PacingLimit: keptFor('PacingLimit'),
};

/** A fixture for each reason. */
const planned: Readonly<Record<Exclude<ContainerReason, AgentReason>, Row>> = {
  PodGone: {
    ...by(),
    ...withNode({ containers: [dead('a', 60, { pod: 'gone' })] }),
    ...{ assumeElapsed: true, of: 'a' },
  },
  DeadContainer: { ...by(), ...attempts, of: 'a' },
  Sandbox: {
    ...by(),
    ...withNode({ sandboxes: [down('gone', 60)] }),
    ...{ assumeElapsed: true, of: 'gone-sandbox' },
  },
  OrphanedLogs: {
    ...by(),
    ...withNode({ logs: listing(log(goneLog)) }),
    ...{ assumeElapsed: true, of: '/var/log/pods/default_gone_uid-gone' },
  },
  BrokenLink: {
    ...by(),
    ...withNode({ logs: listing(link('gone_default_main-abcdef.log', goneLog)) }),
    of: '/var/log/containers/gone_default_main-abcdef.log',
  },
  ContainerGone: {
    ...by(),
    ...withNode({
      sandboxes: [sandbox('pod')],
      logs: listing(...[0, 1, 2].map((n) => log(`default_pod_uid-pod/main/${n}.log`))),
    }),
    of: '/var/log/pods/default_pod_uid-pod/main/0.log',
  },
  RotatedLog: {
    ...by({ logs: logsRule({ maxRotatedPerContainer: 0 }) }),
    ...withNode({ logs: listing(log('default_pod_uid-pod/main/0.log.20260115-100000')) }),
    of: '/var/log/pods/default_pod_uid-pod/main/0.log.20260115-100000',
  },
  OrphanedCgroup: { ...removing, ...leftBy({ podCgroups: [left()] }), assumeElapsed: true, of: '/left/over' },
  OrphanedDirectory: {
    ...{ ...removing, ...leftBy({ podDirectories: [left()] }), assumeElapsed: true, of: '/left/over' },
  },
  ...obstacleRows,
  Running: { ...by(), ...withNode({ containers: [container('a')] }), of: 'a' },
  NotKubelets: { ...by(), ...withNode({ containers: [dead('a', 60, { labels: {} })] }), of: 'a' },
  StaticPod: {
    ...by(),
    ...withNode({ containers: [dead('a', 60)], sandboxes: [sandbox('pod', { annotations: staticSource })] }),
    of: 'a',
  },
  UnknownState: { ...by(), ...withNode({ containers: [dead('a', 60, { state: 'Unknown' })] }), of: 'a' },
  TooYoung: { ...by({ minimumAgeMs: 7_200_000 }), ...deadOne, of: 'a' },
  NewestAttempt: { ...by(), ...deadOne, of: 'a' },
  NewestSandbox: { ...by(), ...withNode({ sandboxes: [down('pod', 60)] }), of: 'pod-sandbox' },
  UnderLimit: { ...by({ maxPerPodContainer: 2 }), ...attempts, of: 'a' },
  InUse: {
    ...by(),
    ...withNode({ containers: [dead('a', 60)], sandboxes: [down('pod', 60)] }),
    of: 'pod-sandbox',
  },
  Quarantined: { ...by(), ...withNode({ containers: [dead('a', 60, { pod: 'gone' })] }), of: 'a' },
  PodsUnknown: {
    ...by(),
    ...withNode({ pods: undefined, logs: listing(log(goneLog)) }),
    of: '/var/log/pods/default_gone_uid-gone',
  },
  ContainersUnknown: {
    ...by(),
    ...withNode({ containers: [dead('a', 60)], sandboxes: undefined }),
    of: 'a',
  },
  NoPolicy: { ...deadOne, of: 'a' },
  InvalidPolicy: { policies: [invalidPolicy], ...deadOne, of: 'a' },
  KeepMarked: { ...by(), ...deadOne, nodes: [node('node-1', { labels: keepMark })], of: 'a' },
  NodeUnknown: { ...by(), ...deadOne, nodes: [], of: 'a' },
  RuleOff: { ...nodesBy({}), ...deadOne, of: 'a' },
};

test.each(Object.entries(planned))('a plan decides %s', (reason, fixture) => {
  const decisions = decided(fixture, 'containergc').filter(({ object }) => {
    return object.kind !== 'Pod' && (object.id ?? object.path) === fixture.of;
  });
  expect(decisions.map((one) => one.reason)).toEqual([reason]);
});

const forPressure = (signal: DiskSignal) => (): readonly string[] => {
  const containers = [dead('a', 60), dead('newer', 30, { attempt: 1 })];
  const rule = { maxPerPodContainer: undefined };
  const demand = { signal, threshold: '15%', wanted: 1 };
  return planOf({ containers, pods: [boundPod('pod')] }, rule, { demand }).removals.map(
    ({ reason }) => reason,
  );
};

test('a plan warns about a log that is too large, besides its decision about the container', () => {
  const path = '/var/log/pods/default_pod_uid-pod/main/0.log';
  const fixture = {
    ...by({ logs: logsRule({ warnBytesPerContainer: 1024 ** 2 }) }),
    ...withNode({
      containers: [container('a')],
      logs: listing(log('default_pod_uid-pod/main/0.log', { bytes: 1536 * 1024 })),
    }),
  };
  const [warning, ...others] = decided(fixture, 'containergc');
  expect(warning).toMatchObject({
    ...{ verdict: 'Warn', reason: 'LogTooLarge', order: null, bytes: 1536 * 1024 },
    object: { kind: 'Container', id: 'a', name: 'main', pod: 'default/pod' },
    detail: `The current log of container main of pod default/pod is 1.50 MiB; dustpan warns above 1Mi. The file is ${path}.`,
    field: 'nodes.containerGC.logs.warnBytesPerContainer=1Mi',
  });
  expect(others.map(({ verdict, reason }) => `${verdict} ${reason}`)).toEqual(['Keep Running', 'Keep InUse']);
  expect(totals(fixture, 'containergc')).toMatchObject({ planned: 0, kept: 2, warned: 1 });
});

const agentOnly: Readonly<Record<AgentReason, () => readonly string[]>> = {
  'nodefs.available': forPressure('nodefs.available'),
  'nodefs.inodesFree': forPressure('nodefs.inodesFree'),
  'imagefs.available': forPressure('imagefs.available'),
  'imagefs.inodesFree': forPressure('imagefs.inodesFree'),
  ClockUnsure: () => {
    const facts = { containers: [dead('a', 60)], clockUnsure: true };
    return planOf(facts, { minimumAgeMs: 60_000 }).kept.map(({ reason }) => reason);
  },
};

test.each(Object.entries(agentOnly))('a pass of the agent decides %s', (reason, kept) => {
  expect(kept()).toEqual([reason]);
});

test('every reason has a row', () => {
  const rows = [...Object.keys(planned), ...Object.keys(agentOnly)];
  expect(rows.sort()).toEqual(
    [...containerRemoveReasons, ...containerKeepReasons, ...nodeKeepReasons].sort(),
  );
});
