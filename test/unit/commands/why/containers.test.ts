import { expect, test } from 'vitest';
import type { ContainerGcPolicy } from '../../../../src/api/policy/policy.ts';
import { diskSignals } from '../../../../src/api/node-pressure.ts';
import {
  containerKeepReasons,
  containerRemoveReasons,
  nodeKeepReasons,
} from '../../../../src/api/reasons.ts';
import { signalText } from '../../../../src/gc/reasons/words.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import type {
  FoundOrphan,
  OrphanObstacle,
  OrphansFound,
} from '../../../../src/node/storage/orphans-finder.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { minutesAgo, node } from '../../../builders.ts';
import {
  attempts,
  dead,
  down,
  link,
  log,
  logsRule,
  rule,
  staticSource,
} from '../../agent/containergc/builders.ts';
import {
  boundPod,
  broken,
  expectExplanation,
  nodesPolicy,
  shortOf,
  type Facts,
  type ReasonRow,
} from './fixtures.ts';

interface Row extends ReasonRow {
  /** An id or a path. */
  readonly name: string;
  readonly rule?: Partial<ContainerGcPolicy>;
  readonly part: Partial<NodePart>;
  readonly facts?: Facts;
}

const governed = (over: Partial<ContainerGcPolicy> = {}): Facts => ({
  policies: [nodesPolicy({ containerGC: rule(over) })],
});
const logsOf = (...entries: readonly LogEntry[]): LogListing => ({
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  ...{ entries, directories: [], complete: true },
});
const pods = [boundPod('pod')];
const finished = { ...boundPod('pod'), phase: 'Succeeded' };
const evicted = { ...finished, phase: 'Failed', evicted: true };
const deleted = { ...boundPod('pod'), deletionAtMs: minutesAgo(1) };
const uid = '11111111-2222-3333-4444-555555555555';
const goneLogs = `default_gone_${uid}`;
const podLogs = 'default_pod_uid-pod';
const attemptLog = (attempt: string): LogEntry => log(`${podLogs}/main/${attempt}.log`);
const rotated = (day: string): LogEntry => log(`${podLogs}/main/0.log.202601${day}-000000`);

const removing: Facts = {
  policies: [nodesPolicy({ orphans: { podCgroups: 'Remove', podDirectories: 'Remove' } })],
};
const leftover = (obstacle?: OrphanObstacle): FoundOrphan => ({
  ...{ path: '/left/over', podUid: uid, sinceMs: 0, bytes: 1, obstacle },
});
const leftBy = (orphans: Partial<OrphansFound>): Partial<NodePart> => ({
  orphans: { podDirectories: undefined, logDirectories: undefined, podCgroups: undefined, ...orphans },
});

const rows: readonly Row[] = [
  {
    ...{ reason: 'PodGone', name: 'dead-1', assumeElapsed: true },
    part: { containers: [dead('dead-1', 60)] },
    field: 'nodes.containerGC',
    why: 'It is not running, and pod default/pod is gone.',
  },
  {
    ...{ reason: 'PodGone', name: 'dead-1', assumeElapsed: true },
    part: { pods: [evicted], containers: [dead('dead-1', 60)] },
    field: 'nodes.containerGC',
    why: 'It is not running, and pod default/pod was evicted.',
  },
  {
    ...{ reason: 'DeadContainer', name: 'dead0' },
    part: { pods, containers: attempts(3, {}, 'dead') },
    field: 'nodes.containerGC.maxPerPodContainer=1',
    why: 'It is the oldest of the 3 dead attempts of container main of pod default/pod, and the policy allows one.',
  },
  {
    ...{ reason: 'DeadContainer', name: 'dead1', rule: { maxPerPodContainer: 1 } },
    part: { pods, containers: attempts(3, {}, 'dead') },
    field: 'nodes.containerGC.maxPerPodContainer=1',
    why: 'It is the 2nd oldest of the 3 dead attempts of container main of pod default/pod, and the policy allows one.',
  },
  {
    ...{ reason: 'DeadContainer', name: 'dead0', rule: { maxPerPodContainer: 0 } },
    part: { pods: [finished], containers: attempts(1, {}, 'dead') },
    field: 'nodes.containerGC.maxPerPodContainer=0',
    why: 'It is the only dead attempt of container main of pod default/pod, and the policy allows none.',
  },
  {
    ...{ reason: 'DeadContainer', name: 'dead-a', rule: { maxContainers: 1 } },
    part: {
      pods: [finished],
      containers: [dead('dead-a', 60, { name: 'a' }), dead('dead-b', 30, { name: 'b' })],
    },
    field: 'nodes.containerGC.maxContainers=1',
    why: 'The node has 2 dead containers, the policy allows one, and this one is among the oldest.',
  },
  {
    ...{ reason: 'Sandbox', name: 'pod-sandbox', assumeElapsed: true },
    part: { sandboxes: [down('pod', 60)] },
    field: 'nodes.containerGC.sandboxes=true',
    why: 'It is not ready and has no containers, and pod default/pod is gone.',
  },
  {
    ...{ reason: 'Sandbox', name: 'pod-sandbox', assumeElapsed: true },
    part: { pods: [evicted], sandboxes: [down('pod', 60)] },
    field: 'nodes.containerGC.sandboxes=true',
    why: 'It is not ready and has no containers, and pod default/pod was evicted.',
  },
  {
    ...{ reason: 'Sandbox', name: 'older' },
    part: { pods, sandboxes: [down('pod', 60, { id: 'older' }), down('pod', 10, { state: 'Ready' })] },
    field: 'nodes.containerGC.sandboxes=true',
    why: 'It is not ready and has no containers, and pod default/pod has a newer sandbox.',
  },
  {
    ...{ reason: 'OrphanedLogs', name: `/var/log/pods/${goneLogs}/main/0.log`, assumeElapsed: true },
    part: { logs: logsOf(log(`${goneLogs}/main/0.log`)) },
    field: 'nodes.containerGC.logs.orphanedDirectories=true',
    why: 'It holds logs of pod default/gone, which is gone, and no container of the pod is left.',
  },
  {
    ...{ reason: 'OrphanedLogs', name: `/var/log/pods/${goneLogs}`, assumeElapsed: true },
    part: { pods: [{ ...deleted, uid }], logs: logsOf(log(`${goneLogs}/main/0.log`)) },
    field: 'nodes.containerGC.logs.orphanedDirectories=true',
    why: 'It holds logs of pod default/gone, which was deleted longer than its grace period ago, and no container of the pod is left.',
  },
  {
    ...{ reason: 'BrokenLink', name: '/var/log/containers/a_b_c-0123456789.log' },
    part: { logs: logsOf(link('a_b_c-0123456789.log', 'x_y_z/main/0.log')) },
    field: 'nodes.containerGC.logs.brokenLinks=true',
    why: 'It points to a log that does not exist.',
  },
  {
    ...{ reason: 'BrokenLink', name: '/var/log/containers/a_b_c-0123456789abcdef.log' },
    part: { logs: logsOf(link('a_b_c-0123456789abcdef.log', '/var/lib/docker/x.log')) },
    field: 'nodes.containerGC.logs.brokenLinks=true',
    why: 'It points out of /var/log/pods, and the runtime does not have its container.',
  },
  {
    ...{ reason: 'ContainerGone', name: attemptLog('0').path },
    part: {
      pods,
      sandboxes: [sandbox('pod')],
      logs: logsOf(attemptLog('0'), attemptLog('1'), attemptLog('2')),
    },
    field: 'nodes.containerGC.logs.orphanedDirectories=true, nodes.containerGC.maxPerPodContainer=1',
    why: 'The runtime no longer has its attempt, which is the oldest of the 3 dead attempts of container main of pod default/pod, and the policy allows one.',
  },
  {
    ...{ reason: 'TooYoung', name: attemptLog('0').path },
    rule: { minimumAgeMs: 3_600_000 },
    part: { pods, sandboxes: [sandbox('pod')], logs: logsOf(attemptLog('0'), attemptLog('1')) },
    field: 'nodes.containerGC.minimumAge=1h',
    why: 'It was last written at 2026-01-15T11:30:00Z, and is kept for at least 1h.',
  },
  {
    ...{ reason: 'RotatedLog', name: rotated('01').path },
    rule: { logs: logsRule({ maxRotatedPerContainer: 1, maxBytesPerPod: 5000 }) },
    part: { pods, logs: logsOf(rotated('01'), rotated('02')) },
    field: 'nodes.containerGC.logs.maxRotatedPerContainer=1, nodes.containerGC.logs.maxBytesPerPod=5000',
    why: 'There are more rotated logs than the policy allows, and this one is among the oldest.',
  },
  {
    ...{ reason: 'Running', name: 'alive' },
    part: { pods, containers: [container('alive')] },
    field: null,
    why: 'It is running.',
  },
  {
    ...{ reason: 'Running', name: 'pod-sandbox' },
    part: { pods, sandboxes: [sandbox('pod')] },
    field: null,
    why: 'It is ready.',
  },
  {
    ...{ reason: 'NotKubelets', name: 'foreign' },
    part: { containers: [dead('foreign', 60, { labels: {} })] },
    field: null,
    why: 'The kubelet did not create it: it lacks the labels or the name that the kubelet sets.',
  },
  {
    ...{ reason: 'StaticPod', name: 'dead-1' },
    part: { containers: [dead('dead-1', 60)], sandboxes: [down('pod', 60, { annotations: staticSource })] },
    field: null,
    why: 'It belongs to pod default/pod, a static pod, and dustpan leaves static pods to the kubelet.',
  },
  {
    ...{ reason: 'UnknownState', name: 'lost' },
    part: { pods, containers: [dead('lost', 60, { state: 'Unknown' })] },
    field: null,
    why: 'The runtime reports its state as unknown, and pod default/pod may still exist.',
  },
  {
    ...{ reason: 'TooYoung', name: 'dead-1', rule: { minimumAgeMs: 7_200_000 } },
    part: { pods, containers: [dead('dead-1', 60)] },
    field: 'nodes.containerGC.minimumAge=2h',
    why: 'It was created at 2026-01-15T11:00:00Z, and is kept for at least 2h.',
  },
  {
    ...{ reason: 'TooYoung', name: 'dead-1' },
    part: { pods, containers: [dead('dead-1', 1, { state: 'Created' })] },
    field: null,
    why: 'It was created at 2026-01-15T11:59:00Z, and is kept for at least 2m, because it may be about to start.',
  },
  {
    ...{ reason: 'NewestAttempt', name: 'dead-1' },
    part: { pods, containers: [dead('dead-1', 60)] },
    field: 'nodes.containerGC.maxPerPodContainer=1',
    why: 'It is the newest dead attempt of container main of pod default/pod: somebody may need its log, and without it the kubelet may run the container of an unfinished pod again.',
  },
  {
    ...{ reason: 'NewestSandbox', name: 'pod-sandbox' },
    part: { pods, sandboxes: [down('pod', 60)] },
    field: null,
    why: 'It is the newest sandbox of pod default/pod, which still exists.',
  },
  {
    ...{ reason: 'UnderLimit', name: 'dead0', rule: { maxPerPodContainer: 2, maxContainers: 9 } },
    part: { pods, containers: attempts(2, {}, 'dead') },
    field: 'nodes.containerGC.maxPerPodContainer=2, nodes.containerGC.maxContainers=9',
    why: 'It is the oldest of the 2 dead attempts of container main of pod default/pod, and the policy allows 2.',
  },
  {
    ...{ reason: 'UnderLimit', name: 'dead0', rule: { maxPerPodContainer: undefined } },
    part: { pods, containers: attempts(2, {}, 'dead') },
    field: 'nodes.containerGC.maxPerPodContainer=-1, nodes.containerGC.maxContainers=-1',
    why: 'It is the oldest of the 2 dead attempts of container main of pod default/pod, and the policy allows any number.',
  },
  {
    ...{ reason: 'UnderLimit', name: rotated('02').path },
    rule: { logs: logsRule({ maxRotatedPerContainer: 1, orphanedDirectories: false }) },
    part: { pods, logs: logsOf(rotated('01'), rotated('02')) },
    field: 'nodes.containerGC.logs.maxRotatedPerContainer=1',
    why: 'It and the rotated logs beside it are within the limits.',
  },
  {
    ...{ reason: 'InUse', name: 'pod-sandbox' },
    part: { pods, containers: [dead('dead-1', 60)], sandboxes: [down('pod', 60)] },
    field: null,
    why: 'It contains a container that dustpan keeps.',
  },
  {
    ...{ reason: 'InUse', name: `/var/log/pods/${podLogs}` },
    part: { pods, logs: logsOf(log(`${podLogs}/main/0.log`)) },
    field: null,
    why: 'It holds the logs of pod default/pod, which exists or has a container that dustpan keeps.',
  },
  {
    ...{ reason: 'Quarantined', name: 'dead-1' },
    part: { containers: [dead('dead-1', 60)] },
    field: null,
    why: 'Pod default/pod seems to be gone, but only one pass has observed this.',
  },
  {
    ...{ reason: 'Quarantined', name: 'dead-1' },
    part: { pods: [evicted], containers: [dead('dead-1', 60)] },
    field: null,
    why: 'Pod default/pod was evicted, and nothing of it seems to run, but only one pass has observed this.',
  },
  {
    ...{ reason: 'PodsUnknown', name: `/var/log/pods/${podLogs}` },
    part: { pods: undefined, logs: logsOf(log(`${podLogs}/main/0.log`)) },
    field: null,
    why: 'The agent does not know the pods of the node, and one may need it.',
  },
  {
    ...{ reason: 'ContainersUnknown', name: 'dead-1' },
    part: { pods, containers: [dead('dead-1', 60)], sandboxes: undefined },
    field: null,
    why: 'The agent does not know the containers or sandboxes of the node, and one may need it.',
  },
  {
    ...{ reason: 'NoPolicy', name: 'dead-1', facts: { policies: [] } },
    part: { containers: [dead('dead-1', 60)] },
    policy: null,
    field: null,
    why: 'No GCPolicy selects the node.',
  },
  {
    ...{ reason: 'InvalidPolicy', name: 'dead-1', facts: { policies: [broken] } },
    part: { containers: [dead('dead-1', 60)] },
    policy: 'broken',
    field: 'spec.pods.terminated.treshold',
    why: 'GCPolicy broken is invalid and may select this node, so dustpan keeps it: spec.pods.terminated.treshold: is not a known field.',
  },
  {
    ...{ reason: 'KeepMarked', name: 'dead-1' },
    part: { pods: [{ ...boundPod('pod'), isOptedOut: true }], containers: [dead('dead-1', 60)] },
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
    why: 'Pod default/pod has the label gc.dustpan.dev/keep.',
  },
  {
    ...{ reason: 'KeepMarked', name: 'dead-1' },
    facts: { ...governed(), nodes: [node('node-1', { labels: { 'gc.dustpan.dev/keep': 'true' } })] },
    part: { containers: [dead('dead-1', 60)] },
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
    why: 'The node has the label gc.dustpan.dev/keep.',
  },
  {
    ...{ reason: 'NodeUnknown', name: 'dead-1', facts: { ...governed(), nodes: undefined } },
    part: { containers: [dead('dead-1', 60)] },
    policy: null,
    field: null,
    why: 'The agent does not know the node or the policies.',
  },
  {
    ...{ reason: 'RuleOff', name: 'dead-1', facts: { policies: [nodesPolicy({})] } },
    part: { containers: [dead('dead-1', 60)] },
    field: 'nodes.containerGC is not set',
    why: 'The policy of the node has no rule for containers.',
  },
  {
    ...{ reason: 'RuleOff', name: 'pod-sandbox', rule: { sandboxes: false } },
    part: { sandboxes: [down('pod', 60)] },
    field: 'nodes.containerGC.sandboxes=false',
    why: 'The policy of the node has no rule for sandboxes.',
  },
  {
    ...{ reason: 'OrphanedCgroup', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podCgroups: [leftover()] }),
    field: 'nodes.orphans.podCgroups=Remove',
    why: 'Two passes found that neither the API server nor the runtime lists its pod, and no process is in the control group.',
  },
  {
    ...{ reason: 'OrphanedDirectory', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podDirectories: [leftover()] }),
    field: 'nodes.orphans.podDirectories=Remove',
    why: 'Two passes found that neither the API server nor the runtime lists its pod, nothing is mounted in the directory, and no file in it may outlive the pod.',
  },
  {
    ...{ reason: 'Quarantined', name: '/left/over', facts: removing },
    part: leftBy({ podDirectories: [leftover()] }),
    field: null,
    why: 'Its pod seems to be gone, but only one pass has observed this.',
  },
  {
    ...{ reason: 'Mounted', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podDirectories: [leftover('Mounted')] }),
    field: null,
    why: 'A volume is mounted in the directory, and its pod is gone; removing the directory could delete data of the volume.',
  },
  {
    ...{ reason: 'MountsUnknown', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podDirectories: [leftover('MountsUnknown')] }),
    field: null,
    why: "The agent cannot see the node's mounts, because the kubelet's directory is mounted into the agent without mount propagation.",
  },
  {
    ...{ reason: 'NotEmpty', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podDirectories: [leftover('NotEmpty')] }),
    field: null,
    why: 'Its pod is gone, but the directory contains files that may outlive the pod: of a volume plugin other than emptyDir, configMap, secret, projected and downwardAPI, or files that the kubelet did not create.',
  },
  {
    ...{ reason: 'ReadOnly', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podCgroups: [leftover('ReadOnly')] }),
    field: 'nodes.orphans.podCgroups=Remove',
    why: 'The policy has nodes.orphans.podCgroups=Remove, but the control groups are mounted read-only into the agent: set agent.orphans.podCgroups=true in the Helm values.',
  },
  {
    ...{ reason: 'PacingLimit', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podDirectories: [leftover('PacingLimit')] }),
    field: null,
    why: 'The directory contains more files than one pass removes.',
  },
  {
    ...{ reason: 'InUse', name: '/left/over', assumeElapsed: true, facts: removing },
    part: leftBy({ podCgroups: [leftover('InUse')] }),
    field: null,
    why: 'A process is in it or below it, or a pod of the API server, a container or a sandbox has its UID.',
  },
  {
    ...{ reason: 'RuleOff', name: '/left/over', facts: governed() },
    part: leftBy({ podDirectories: [leftover()] }),
    field: 'nodes.orphans.podDirectories is not Remove',
    why: 'The policy of the node has no rule for orphaned pod directories.',
  },
];

test.each(diskSignals)('%s: the container is removed for node pressure', (signal) => {
  const { nodePressure, usage } = shortOf(signal);
  const facts = {
    policies: [nodesPolicy({ containerGC: rule({ maxPerPodContainer: 2 }), nodePressure })],
    part: { pods, containers: attempts(2, {}, 'dead'), usage },
  };
  expectExplanation({ kind: 'container', text: 'dead0', node: undefined }, facts, {
    reason: signal,
    field: `nodes.nodePressure.thresholds["${signal}"]=15%`,
    why: `It is the oldest of the 2 dead attempts of container main of pod default/pod, and the node is low on ${signalText[signal]}.`,
  });
});

test.each(rows)('$reason: $why', ({ name: text, rule: over, part, facts = governed(over), ...row }) => {
  expectExplanation({ kind: 'container', text, node: undefined }, { ...facts, part }, row);
});

test('the table has every reason that a plan of containers can give', () => {
  const all = [...containerRemoveReasons, ...containerKeepReasons, ...nodeKeepReasons];
  // Only an agent observes a jump of the clock, and removals that fail.
  const possible = all.filter((one) => one !== 'ClockUnsure' && one !== 'RemovalFailed');
  expect(new Set([...diskSignals, ...rows.map(({ reason }) => reason)])).toEqual(new Set(possible));
});
