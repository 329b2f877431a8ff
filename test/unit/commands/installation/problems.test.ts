import { expect, test } from 'vitest';
import type {
  Blocked,
  Installation,
  OwnPod,
  Warning,
  Workload,
} from '../../../../src/evaluation/installation/facts.ts';
import {
  blockedWork,
  excludedNodes,
  installationProblems,
  type Problem,
} from '../../../../src/evaluation/installation/problems.ts';
import { controllerRights, leaseRight } from '../../../../src/api/policy/needs.ts';
import { clusterLease } from '../../../../src/kube/lease/cluster-leader.ts';
import {
  minutesAgo as minutesAgoMs,
  pod as anyPod,
  policy as policyOf,
  terminatedRule,
} from '../../../builders.ts';
import { agents, controller, installation, lease as held, minutesAgo, now } from '../status/fixtures.ts';

const pod = (given: Partial<OwnPod>): OwnPod => ({
  ...{ namespace: 'dustpan-system', name: 'dustpan-agent-x', component: 'agent', instance: 'dustpan' },
  ...{ nodeName: 'node-1', ready: false, createdTime: minutesAgo(5), reason: '', message: '' },
  ...given,
});
const warning = (given: Partial<Warning>): Warning => ({
  ...{ namespace: 'dustpan-system', kind: 'DaemonSet', name: 'dustpan-agent', reason: 'FailedCreate' },
  ...{ message: 'refused', time: minutesAgo(4) },
  ...given,
});

/** One of two agents does not run. */
const withAgents = (given: Partial<Workload>, rest: Partial<Installation> = {}): Installation => ({
  ...installation,
  agents: [{ ...agents, ready: 1, ...given }],
  ...rest,
});
/** No agent runs, because each of their pods is refused. */
const refused = (message: string): Installation =>
  withAgents({ ready: 0 }, { warnings: [warning({ message })] });
const withController = (
  given: Partial<typeof controller>,
  rest: Partial<Installation> = {},
): Installation => ({
  ...installation,
  controllers: [{ ...controller, ...given }],
  ...rest,
});
/** Its holder does not renew it. */
const lease = { ...held, renewedTime: minutesAgo(5) };
const none = { controllers: [], agents: [] };
const unread = ['deployments of all namespaces', 'daemonsets of all namespaces'];

const ofKind = (kind: Partial<Installation['kinds'][number]>): Installation => ({
  ...installation,
  kinds: [{ name: 'gcpolicies', isInstalled: true, unservedVersions: [], ...kind }],
});
const withoutRights: Installation['missingRights'][number] = {
  ...{ kind: 'Deployment', namespace: 'dustpan-system', serviceAccount: 'dustpan' },
  rights: [leaseRight(controller.leaseName), leaseRight(clusterLease)],
};
/** As with rbac.jobs=false, under a policy that needs Jobs. */
const withoutJobs: Installation['missingRights'][number] = {
  ...withoutRights,
  rights: controllerRights([
    policyOf({ pods: { terminated: terminatedRule({ protectUnfinishedJobs: true }) } }),
  ]).filter(({ resource }) => resource === 'jobs'),
};

const cases: Readonly<Record<string, Installation>> = {
  nothing: installation,
  'nothing is installed': { ...installation, ...none },
  'what may not be read': { ...installation, ...none, unread },
  'only agents are installed': { ...installation, controllers: [] },
  'the controller is scaled to 0': withController({ desired: 0, ready: 0, lease: { ...lease, holder: '' } }),
  'nobody renews the Lease': withController({ lease }),
  'the controller has no rights': withController({ lease: undefined }, { missingRights: [withoutRights] }),
  'the values of the chart leave out a right of the controller': withController(
    {},
    { missingRights: [withoutJobs] },
  ),
  'the controller of another release acts': withController({ waitsFor: 'other/dustpan-controller-5f' }),
  'agents of two releases on the same nodes': {
    ...installation,
    agents: [agents, { ...agents, namespace: 'other', name: 'second-agent', instance: 'second' }],
  },
  'agents of two releases on other nodes': {
    ...installation,
    agents: [agents, { ...agents, namespace: 'other', nodeSelector: { pool: 'b' } }],
  },
  'the Lease may not be read': withController({ lease: 'unknown' }),
  'a clock that is half a minute ahead': withController({
    lease: { ...lease, renewedTime: minutesAgo(0.7) },
  }),
  'the pod of the controller is refused': withController(
    { ready: 0 },
    {
      warnings: [
        warning({
          ...{ kind: 'ReplicaSet', name: 'dustpan-controller-7d9f' },
          message: 'unable to validate against any security context constraint',
        }),
      ],
    },
  ),
  'the agents are refused by a quota of the priority class': refused(
    'pods "a" is forbidden: insufficient quota to match these scopes',
  ),
  'the agents violate Pod Security': refused('violates PodSecurity "baseline:latest"'),
  'the agents are refused for an unknown reason': refused('refused'),
  'an image cannot be pulled on two nodes': withAgents(
    { ready: 0 },
    {
      pods: ['node-2', 'node-1'].map((nodeName) =>
        pod({ nodeName, reason: 'ErrImagePull', message: 'not found' }),
      ),
    },
  ),
  'a path of one node is missing': withAgents(
    {},
    {
      pods: [pod({ reason: 'ContainerCreating' }), pod({ ready: true, nodeName: 'node-2' })],
      warnings: [
        warning({
          ...{ kind: 'Pod', name: 'dustpan-agent-x', reason: 'FailedMount' },
          message: 'hostPath type check failed: /run/containerd is not a directory',
        }),
      ],
    },
  ),
  'neither a pod nor an Event shows why': withAgents({}),
  'a container ends again and again': withAgents({}, { pods: [pod({ reason: 'CrashLoopBackOff' })] }),
  'a pod has just been created': withAgents({}, { pods: [pod({ createdTime: minutesAgo(0.5) })] }),
  'a CRD is missing': ofKind({ isInstalled: false }),
  'a stored version is not served': ofKind({ unservedVersions: ['v1alpha0'] }),
  'the admission policy is gone': { ...installation, admissionPolicies: [] },
  'the admission policies may not be read': { ...installation, admissionPolicies: undefined },
};

const event: Blocked = {
  ...{ namespace: 'team', kind: 'Pod', name: 'web-0', uid: 'uid-web-0', message: '', time: minutesAgo(5) },
  ...{ reason: '', cause: '', pod: undefined },
};
/** Events of the controller, of which some are old, of another kind, or by somebody else. */
const blocked = [
  { ...event, reason: 'EvictionBlocked' },
  { ...event, reason: 'EvictionBlocked', name: 'old', time: minutesAgo(36) },
  { ...event, reason: 'Tripped', kind: 'GCPolicy' },
  { ...event, reason: 'EvictionBlocked', name: 'x;reboot' },
  { ...event, reason: 'PodStuck', cause: 'Image' },
  { ...event, reason: 'PodStuck', cause: 'toString', name: 'odd' },
  { ...event, reason: 'EvictionsStopped', kind: 'Node', namespace: '', name: 'node-1' },
];

const podOf = (name: string, over: Parameters<typeof anyPod>[1]) =>
  anyPod(name, { uid: `uid-${name}`, ...over });

const textOf = ({ kind, names, reason, message, command }: Problem): string =>
  `${kind} ${names.join(', ')}: ${reason}\n  ${message}\n  ${command}\n`;

test('the problems of the installation, and what holds up removals, are those of the file', async () => {
  const found = Object.entries(cases).map(
    ([name, one]) => [name, installationProblems(one, now, false)] as const,
  );
  const held = [
    'Events of the controller',
    blockedWork({ ...installation, blocked }, undefined, now),
  ] as const;
  const texts = [...found, held].map(
    ([name, problems]) => `# ${name}\n\n${problems.map(textOf).join('') || '-\n'}`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/problems.txt');
});

test('nodes without an agent by the values of the chart; those that cannot run one are not listed', () => {
  const linux = { 'kubernetes.io/os': 'linux' };
  const nodes = [
    { name: 'with', labels: { ...linux, pool: 'a' }, taintKeys: [] },
    { name: 'gpu', labels: { ...linux, pool: 'a' }, taintKeys: ['gpu'] },
    { name: 'other', labels: { ...linux, pool: 'b' }, taintKeys: [] },
    { name: 'windows', labels: { 'kubernetes.io/os': 'windows' }, taintKeys: [] },
    { name: 'virtual', labels: { type: 'virtual-kubelet' }, taintKeys: [] },
    { name: 'fargate', labels: { 'eks.amazonaws.com/compute-type': 'fargate' }, taintKeys: [] },
  ].map((one) => ({ ...one, ready: true, readyChangedAtMs: undefined }));
  const nodeSelector = { 'kubernetes.io/os': 'linux', pool: 'a' };
  const given = withAgents(
    { ...{ desired: 1, ready: 1, nodeSelector }, tolerates: ['other'] },
    { nodes, pods: [pod({ ready: true, nodeName: 'with' })] },
  );
  expect(excludedNodes(given)).toEqual([
    { names: ['gpu'], why: 'agent.tolerations has none for the taint gpu' },
    { names: ['other'], why: 'agent.nodeSelector has pool=a' },
  ]);
  expect(excludedNodes({ ...given, agents: [{ ...agents, nodeSelector: {}, desired: 6 }] })).toEqual([]);
});

const ending = podOf('web-0', {
  ...{ phase: 'Running', nodeName: 'node-1' },
  ...{ deletionAtMs: minutesAgoMs(-60), deletionGracePeriodSeconds: 7_200 },
});
const lostNode = installation.nodes?.map((one) => ({
  ...one,
  ready: false,
  readyChangedAtMs: minutesAgoMs(30),
}));

test.each<[name: string, over: Partial<Blocked>, isShown: boolean, nodes?: Installation['nodes']]>([
  ['a pod that may not be read', {}, true],
  ['a pod that is still stuck', { pod: podOf('web-0', { deletionAtMs: minutesAgoMs(60) }) }, true],
  ['a pod that is gone', { pod: 'gone' }, false],
  [
    'another pod of that name',
    { pod: podOf('web-0', { uid: 'other', deletionAtMs: minutesAgoMs(60) }) },
    false,
  ],
  ['an Event without a UID', { uid: '', pod: podOf('web-0', { deletionAtMs: minutesAgoMs(60) }) }, true],
  ['a pod that runs again', { pod: podOf('web-0', { phase: 'Running' }) }, false],
  ['a pod within a long grace period, on a node that was lost', { pod: ending }, true, lostNode],
  ['the same on a node that is ready', { pod: ending }, false],
  ['the same on nodes that may not be read', { pod: ending }, true, undefined],
  ['a pod that runs again on nodes that may not be read', { pod: podOf('web-0', {}) }, false, undefined],
  [
    'a pod that still runs and may not be evicted',
    { reason: 'EvictionBlocked', pod: podOf('web-0', { phase: 'Running' }) },
    true,
  ],
  ['an evicted pod that has ended', { reason: 'ExceededGracePeriod', pod: 'gone' }, false],
  ['a node', { reason: 'EvictionsStopped', kind: 'Node', namespace: '', name: 'node-1' }, true],
  ['a node that is gone', { reason: 'EvictionsStopped', kind: 'Node', namespace: '', name: 'node-9' }, false],
])('what holds up removals ends with its cause: %s', (_, over, isShown, ...nodes) => {
  const blocked = [{ ...event, reason: 'PodStuck', ...over }];
  const found = { blocked, nodes: nodes.length > 0 ? nodes[0] : installation.nodes };
  expect(blockedWork(found, undefined, now)).toHaveLength(Number(isShown));
});

test.each<[name: string, requested: readonly string[] | undefined, over: Partial<Blocked>, isShown: boolean]>(
  [
    ['requests are not known', undefined, {}, true],
    ['a node requests it', ['uid-web-0'], {}, true],
    ['no node requests it', ['uid-web-1'], {}, false],
    ['an Event without a UID', [], { uid: '' }, true],
    ['another reason', [], { reason: 'ExceededGracePeriod' }, true],
  ],
)('an eviction that is blocked ends with the requests for it: %s', (_, requested, over, isShown) => {
  const pod = podOf('web-0', { phase: 'Running' });
  const blocked = [{ ...event, reason: 'EvictionBlocked', pod, ...over }];
  const uids = requested && new Set(requested);
  expect(blockedWork({ ...installation, blocked }, uids, now)).toHaveLength(Number(isShown));
});
