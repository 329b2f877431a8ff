import { containerTarget, decide, type Because } from '../../../../src/agent/containergc/facts.ts';
import { explainContainer } from '../../../../src/agent/containergc/words.ts';
import { byDiskSignal } from '../../../../src/api/node-pressure.ts';
import type { CheckpointsPolicy, ContainerGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { CheckpointFile, CheckpointListing } from '../../../../src/node/storage/checkpoints.ts';

import {
  containerKeepReasons,
  containerRemoveReasons,
  containerWarnReasons,
  nodeKeepReasons,
  type ContainerKeepReason,
  type ContainerRemoveReason,
  type ContainerWarnReason,
} from '../../../../src/api/reasons.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import type { FoundOrphan, OrphanObstacle } from '../../../../src/node/storage/orphans-finder.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { minutesAgo, node, policy } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import {
  attempts,
  dead,
  down,
  link,
  log,
  logsRule,
  noCheckpointLimits,
  rule,
  staticSource,
} from '../../agent/containergc/builders.ts';
import { boundPod, broken, keepMark, nodesPolicy, shortOf, type Facts } from '../facts.ts';
import { actedCases, casesOf, explained, testReasons, type Cases } from './catalogue.ts';

interface Case extends Facts {
  /** An id or a path. */
  readonly ask: string;
}

/** The object on a node under this rule. */
const asked = (ask: string, part: Partial<NodePart>, over: Partial<ContainerGcPolicy> = {}): Case => ({
  ask,
  policies: [nodesPolicy({ containerGC: rule(over) })],
  part,
});
/** The same after the quarantine. */
const later = (...given: Parameters<typeof asked>): Case => ({ ...asked(...given), assumeElapsed: true });

const logsOf = (...entries: readonly LogEntry[]): LogListing => ({
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  entries,
  directories: [],
  complete: true,
});
const pods = [boundPod('pod')];
const finished = { ...boundPod('pod'), phase: 'Succeeded' };
const evicted = { ...finished, phase: 'Failed', evicted: true };
const uid = '11111111-2222-3333-4444-555555555555';
const old = { containers: [dead('old', 60)] };
const three = { pods, containers: attempts(3, {}, 'dead') };
const two = { pods, containers: attempts(2, {}, 'dead') };
const idle = { sandboxes: [down('pod', 60)] };

const goneLogs = `default_gone_${uid}`;
const ofGone = { logs: logsOf(log(`${goneLogs}/main/0.log`)) };
const podLogs = 'default_pod_uid-pod';
const ofPod = { logs: logsOf(log(`${podLogs}/main/0.log`)) };
const attemptLog = (attempt: number): LogEntry => log(`${podLogs}/main/${attempt}.log`);
const rotated = (day: string): LogEntry => log(`${podLogs}/main/0.log.202601${day}-000000`);
const bothRotated = { pods, logs: logsOf(rotated('01'), rotated('02')) };
const alive = { pods, containers: [container('alive')] };
const largeLog = log(`${podLogs}/main/0.log`, { bytes: 2 * 1024 ** 2 });
const warningRule = logsRule({ warnBytesPerContainer: 1024 ** 2 });
const linked = (target: string): Case =>
  asked('/var/log/containers/a_b_c-0123456789abcdef.log', {
    logs: logsOf(link('a_b_c-0123456789abcdef.log', target)),
  });

/** A leftover of a pod that two passes found gone, and what keeps it. */
const leftover = (
  kind: 'podCgroups' | 'podDirectories',
  obstacle?: OrphanObstacle,
  holders: readonly string[] = [],
  volumeDataMs?: number,
): Case => {
  const found: FoundOrphan = {
    path: '/left/over',
    podUid: uid,
    sinceMs: 0,
    bytes: 1,
    obstacle,
    holders,
    volumeDataMs,
  };
  const nothing = { podDirectories: undefined, logDirectories: undefined, podCgroups: undefined };
  return {
    ask: '/left/over',
    policies: [nodesPolicy({ orphans: { podCgroups: 'Remove', podDirectories: 'Remove' } })],
    part: { orphans: { ...nothing, [kind]: [found] } },
    assumeElapsed: true,
  };
};

const archive = '/checkpoints/checkpoint-web_prod-main-2026-01-01T00:00:00Z.tar';
const checkpointFile = { path: archive, isFile: true, bytes: 4096, writtenMs: minutesAgo(600) };

const checkpointOf = (
  checkpoints: Partial<CheckpointsPolicy>,
  over: Partial<CheckpointListing & CheckpointFile> = {},
): Case => {
  const file = { ...checkpointFile, ...over };
  const newer = { ...checkpointFile, path: archive.replace('01T', '14T'), writtenMs: minutesAgo(500) };
  const { isReadOnly = false } = over;
  return {
    ask: file.path,
    policies: [nodesPolicy({ checkpoints: { ...noCheckpointLimits, ...checkpoints } })],
    part: { checkpoints: { files: [file, newer], complete: true, isReadOnly, isApart: false } },
  };
};

/** Only an agent observes a jump of the clock, and removals that fail. */
const live: readonly Because[] = [{ reason: 'ClockUnsure' }, { reason: 'RemovalFailed', times: 3 }];

const planned: Cases<
  ContainerRemoveReason | Exclude<ContainerKeepReason, 'ClockUnsure' | 'RemovalFailed'> | ContainerWarnReason,
  Case
> = {
  PodGone: {
    'a container of a pod that is gone': later('old', old),
    'of an evicted pod': later('old', { ...old, pods: [evicted] }),
  },
  DeadContainer: {
    'the second of three': asked('dead1', three, { maxPerPodContainer: 1 }),
  },
  ...byDiskSignal((signal) => {
    const { nodePressure, usage } = shortOf(signal);
    const policies = [nodesPolicy({ containerGC: rule({ maxPerPodContainer: 2 }), nodePressure })];
    return { 'for node pressure': { ask: 'dead0', policies, part: { ...two, usage } } };
  }),
  Sandbox: {
    'of a pod that is gone': later('pod-sandbox', idle),
    'with a newer sandbox': asked('older', {
      pods,
      sandboxes: [down('pod', 60, { id: 'older' }), down('pod', 10, { state: 'Ready' })],
    }),
  },
  OrphanedLogs: {
    'of a pod that is gone': later(`/var/log/pods/${goneLogs}/main/0.log`, ofGone),
  },
  BrokenLink: {
    'to no log': linked('x_y_z/main/0.log'),
  },
  ContainerGone: {
    'the oldest of three': asked(attemptLog(0).path, {
      pods,
      sandboxes: [sandbox('pod')],
      logs: logsOf(attemptLog(0), attemptLog(1), attemptLog(2)),
    }),
  },
  RotatedLog: {
    'over a limit': asked(rotated('01').path, bothRotated, {
      logs: logsRule({ maxRotatedPerContainer: 1, maxBytesPerPod: 5000 }),
    }),
  },
  OrphanedCgroup: { 'without processes': leftover('podCgroups') },
  OrphanedDirectory: { 'without mounts': leftover('podDirectories') },
  OldCheckpoint: {
    'over maxAge': checkpointOf({ maxAgeMs: 3_600_000 }),
    'over maxPerPod': checkpointOf({ maxPerPod: 1 }),
    'over maxBytes': checkpointOf({ maxBytes: 4096 }),
  },
  LogTooLarge: {
    'and running': asked('alive', { ...alive, logs: logsOf(largeLog) }, { logs: warningRule }),
  },
  Running: {
    'a container': asked('alive', alive),
  },
  NotKubelets: {
    'another file beside checkpoints': checkpointOf({ maxPerPod: 1 }, { path: '/checkpoints/x.tar' }),
    'without labels': asked('foreign', { containers: [dead('foreign', 60, { labels: {} })] }),
  },
  StaticPod: {
    'by its sandbox': asked('old', { ...old, sandboxes: [down('pod', 60, { annotations: staticSource })] }),
  },
  UnknownState: {
    'of a pod that exists': asked('lost', { pods, containers: [dead('lost', 60, { state: 'Unknown' })] }),
  },
  TooYoung: {
    'data of a CSI volume': leftover('podDirectories', undefined, [], minutesAgo(7)),
    'a checkpoint': checkpointOf({ maxPerPod: 0 }, { writtenMs: minutesAgo(7) }),
    'a container': asked('old', { ...old, pods }, { minimumAgeMs: 7_200_000 }),
  },
  NewestAttempt: { 'the only one': asked('old', { ...old, pods }) },
  NewestSandbox: { 'the only one': asked('pod-sandbox', { ...idle, pods }) },
  UnderLimit: {
    'a checkpoint': checkpointOf({ maxPerPod: 2, maxAgeMs: 86_400_000, maxBytes: 1024 ** 3 }),
    'a checkpoint without limits': checkpointOf({}),
    'of dead containers': asked('dead0', two, { maxPerPodContainer: 2, maxContainers: 9 }),
  },
  InUse: {
    'a checkpoint': {
      ...checkpointOf({ maxPerPod: 1 }),
      part: { ...checkpointOf({}).part, pods: [boundPod('restored', [archive])] },
    },
    'a sandbox': asked('pod-sandbox', { ...old, ...idle, pods }),
    'a control group': leftover('podCgroups', 'InUse'),
  },
  Quarantined: {
    'of a pod that is gone': asked('old', old),
    'a leftover': { ...leftover('podDirectories'), assumeElapsed: false },
  },
  Mounted: {
    'no longer': leftover('podDirectories', 'Mounted'),
    'a volume': leftover('podDirectories', 'Mounted', ['/left/over/a/mount']),
    'two volumes': leftover('podDirectories', 'Mounted', ['/left/over/b', '/left/over/a']),
    'for the node': leftover('podDirectories', 'Mounted', ['/plugins/kubernetes.io/csi/x/globalmount']),
  },
  MountsUnknown: { 'not visible': leftover('podDirectories', 'MountsUnknown') },
  ProcessesUnknown: { 'not visible': leftover('podDirectories', 'ProcessesUnknown') },
  NotEmpty: {
    'files that may outlive the pod': leftover('podDirectories', 'NotEmpty'),
    'a file': leftover('podDirectories', 'NotEmpty', ['/left/over/note.txt']),
  },
  VolumeAttached: { 'a CSI volume': leftover('podDirectories', 'VolumeAttached', ['csi-0123']) },
  AttachmentsUnknown: {
    'not read yet': leftover('podDirectories', 'AttachmentsUnknown', ['csi-0123']),
    'a missing right': leftover('podDirectories', 'AttachmentsUnknown', [
      'csi-0123: volumeattachments.storage.k8s.io "csi-0123" is forbidden',
    ]),
  },
  ReadOnly: {
    checkpoints: checkpointOf({ maxPerPod: 1 }, { isReadOnly: true }),
    'control groups': leftover('podCgroups', 'ReadOnly'),
  },
  PacingLimit: { 'too many files': leftover('podDirectories', 'PacingLimit') },
  PodsUnknown: { 'not listed': asked(`/var/log/pods/${podLogs}`, { ...ofPod, pods: undefined }) },
  ContainersUnknown: { 'not listed': asked('old', { ...old, pods, sandboxes: undefined }) },
  NoPolicy: { 'none at all': { ...asked('old', old), policies: [] } },
  InvalidPolicy: { 'it may select the node': { ...asked('old', old), policies: [broken] } },
  KeepMarked: {
    'its pod': asked('old', { ...old, pods: [{ ...boundPod('pod'), isOptedOut: true }] }),
    'its node': { ...asked('old', old), nodes: [node('node-1', { labels: keepMark })] },
  },
  NodeUnknown: { 'nodes are not known': { ...asked('old', old), nodes: undefined } },
  RuleOff: {
    'for containers': { ...asked('old', old), policies: [nodesPolicy({})] },
    'for sandboxes': asked('pod-sandbox', idle, { sandboxes: false }),
    'for checkpoints': { ...checkpointOf({}), policies: [nodesPolicy({ containerGC: rule() })] },
    'for leftovers': { ...leftover('podDirectories'), policies: [nodesPolicy({ containerGC: rule() })] },
  },
};

testReasons(
  'containers',
  [...containerRemoveReasons, ...containerWarnReasons, ...containerKeepReasons, ...nodeKeepReasons],
  [
    ...casesOf(planned, ({ ask: text, ...facts }) =>
      explained({ kind: 'container', text, node: undefined }, facts),
    ),
    ...actedCases(
      live.map((because) => {
        const one = decide({ target: containerTarget(dead('old', 60)), policy: policy() }, because);
        return [
          one,
          explainContainer(one, { rule: rule(), checkpointRule: undefined, ends: new Map() }),
        ] as const;
      }),
    ),
  ],
);
