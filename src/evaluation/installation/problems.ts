import { isStuckCause, stuckMeanings, stuckPods } from '../../controllers/podgc/stuck.ts';
import { isIndispensable, rightText, valuesThatGrant, type Right } from '../../api/policy/needs.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import {
  cannotRun,
  exclusionOf,
  isLed,
  whyNoAgents,
  type Blocked,
  type Controller,
  type Installation,
  type OwnPod,
  type Workload,
} from './facts.ts';

export interface Problem {
  readonly kind:
    'Installation' | 'Controller' | 'Agent' | 'CRD' | 'AdmissionPolicy' | 'Blocked' | 'GCPolicy' | 'Node';
  /** The objects that have it; of agents, their nodes where they are known. */
  readonly names: readonly string[];
  readonly reason: string;
  readonly message: string;
  /** What mends it, or shows more. */
  readonly command: string;
  /** RFC 3339; undefined = not known. */
  readonly since?: string | undefined;
}

/** The chart in a checkout, as README installs it: no command shows from where a release was installed. */
export const chart = 'helm/dustpan';

const install = `helm install dustpan ${chart} -n dustpan-system --create-namespace`;
const upgrade = ({ instance, namespace }: Pick<Workload, 'instance' | 'namespace'>, values: string): string =>
  `helm upgrade ${instance || 'dustpan'} ${chart} -n ${namespace} --reset-then-reuse-values ${values}`;

/** All problems of the installation. Nothing that could not be read is one. `isLedUnseen`: a controller works whose Deployment was not found. */
export function installationProblems(
  found: Installation,
  now: Date,
  isLedUnseen: boolean,
): readonly Problem[] {
  const { controllers = [], agents = [], unread } = found;
  const isWholeCluster = !unread.some((what) => /^(deployments|daemonsets) of all namespaces$/.test(what));
  const hasNoController = controllers.length === 0 && isWholeCluster && !isLedUnseen;
  if (hasNoController && agents.length === 0) return [notInstalled(found)];
  return [
    ...missingKinds(found),
    ...(hasNoController ? [noController(agents)] : []),
    ...(isWholeCluster ? noAgents(found) : []),
    ...controllers.flatMap((controller) => ofController(controller, found, now)),
    ...agents.flatMap((workload) => [...ofWorkload(workload, found, now), ...unpinned(workload, found)]),
    ...severalAgents(agents),
  ];
}

/** Agents of two releases that select the same nodes. Other selectors may select different nodes. */
function severalAgents(agents: readonly Workload[]): readonly Problem[] {
  const bySelector = Map.groupBy(agents, ({ nodeSelector }) =>
    JSON.stringify(Object.entries(nodeSelector).toSorted()),
  );
  return [...bySelector.values()].flatMap((same) => {
    const [first] = same;
    const last = same.at(-1);
    const isOne = ({ namespace, instance }: Workload): boolean =>
      namespace === first?.namespace && instance === first.instance;
    if (last === undefined || same.every(isOne)) return [];
    const names = same.map(fullName);
    const message =
      'Agents of several releases run on the same nodes: each removes as many images per pass as the policy permits, and they overwrite the report and the state of the node.';
    const command = upgrade(last, '--set agent.enabled=false');
    return [{ kind: 'Agent', names, reason: 'SeveralAgents', message, command }];
  });
}

function notInstalled({ kinds }: Installation): Problem {
  const rest = kinds.some(({ isInstalled }) => isInstalled)
    ? ' Its CRDs are still there, with their policies. If kubectl applied them, add --take-ownership.'
    : '';
  return {
    kind: 'Installation',
    names: ['dustpan'],
    reason: 'NotInstalled',
    message: `The cluster has neither a Deployment nor a DaemonSet of dustpan. Unless it runs elsewhere, nothing is removed or measured.${rest}`,
    command: install,
  };
}

function missingKinds({ kinds }: Installation): readonly Problem[] {
  return kinds.flatMap(({ name, isInstalled, unservedVersions }): readonly Problem[] => {
    const names = [`${name}.gc.dustpan.dev`];
    if (!isInstalled) {
      const message = 'The kind is not installed: without it dustpan removes nothing.';
      const command = 'kubectl apply --server-side -f crds.yaml';
      return [{ kind: 'CRD', names, reason: 'KindMissing', message, command }];
    }
    if (unservedVersions.length === 0) return [];
    const message = `Objects are stored in a version that is not served: ${unservedVersions.join(', ')}.`;
    const command = `kubectl get crd ${names.join('')} -o yaml`;
    return [{ kind: 'CRD', names, reason: 'VersionUnserved', message, command }];
  });
}

function noController(agents: readonly Workload[]): Problem {
  const release = agents[0] ?? { namespace: 'dustpan-system', instance: 'dustpan' };
  return {
    kind: 'Controller',
    names: [release.namespace],
    reason: 'NoController',
    message: 'There is no Deployment of the controller. Unless it runs elsewhere, no pod is removed.',
    command: upgrade(release, '--set controller.enabled=true'),
  };
}

/** Only beside a Deployment of the chart: it says whether agents are left out on purpose. */
function noAgents({ controllers = [], agents }: Installation): readonly Problem[] {
  const [controller] = controllers;
  if (controller === undefined || agents?.length !== 0 || whyNoAgents({ controllers, agents }) !== undefined)
    return [];
  return [
    {
      kind: 'Agent',
      names: [controller.namespace],
      reason: 'NoAgents',
      message: 'There is no DaemonSet of the agents: nothing is removed or measured on nodes.',
      command: upgrade(controller, '--set agent.enabled=true'),
    },
  ];
}

function ofController(controller: Controller, found: Installation, now: Date): readonly Problem[] {
  const { namespace, name, desired, lease, createdTime, waitsFor } = controller;
  const common = { kind: 'Controller', names: [fullName(controller)] } as const;
  if (desired === 0) {
    const command = `kubectl -n ${namespace} scale deployment ${name} --replicas=1`;
    const message = 'The Deployment is scaled to 0: no pod is removed.';
    return [{ ...common, reason: 'ScaledToZero', message, command }];
  }
  const problems = ofWorkload(controller, found, now);
  if (problems.length > 0 || isLed(controller) !== false || isStarting(controller, now)) return problems;
  if (waitsFor !== undefined) {
    const message = `The controller of another release acts in this cluster (${waitsFor} holds the Lease kube-system/gc.dustpan.dev); this one waits, and deletes nothing. Agents of both releases work, on the same nodes too.`;
    const command = upgrade(controller, '--set controller.enabled=false');
    return [{ ...common, reason: 'AnotherReleaseActs', message, command }];
  }
  const since = typeof lease === 'object' ? lease.renewedTime : createdTime;
  const message =
    lease === 'off'
      ? 'No controller is ready: no pod is removed.'
      : 'No controller holds the Lease: no pod is removed.';
  const command = `kubectl -n ${namespace} logs deployment/${name} --tail=20`;
  return [{ ...common, reason: 'NoLeader', message, command, since }];
}

/** Missing rights, else the causes for which pods are missing or not ready. */
function ofWorkload(workload: Workload, found: Installation, now: Date): readonly Problem[] {
  const refused = withoutRights(workload, found);
  if (refused.length > 0 || workload.ready >= workload.desired) return refused;
  return groupedCauses(workload, found, now).map(({ cause, nodes }) => ({
    ...cause,
    kind: kindOf(workload),
    names: nodes.length > 0 ? nodes : [fullName(workload)],
  }));
}

const fullName = ({ namespace, name }: Workload): string => `${namespace}/${name}`;
const kindOf = ({ kind }: Workload) => (kind === 'Deployment' ? 'Controller' : 'Agent');

function withoutRights(workload: Workload, found: Installation): readonly Problem[] {
  const lacked = lackedBy(workload, found);
  if (!lacked.some(isIndispensable)) return [];
  const texts = new Set(lacked.map(rightText));
  const common = { kind: kindOf(workload), names: [fullName(workload)], reason: 'MissingRights' } as const;
  const message = `Its ServiceAccount ${workload.serviceAccount} may not ${[...texts].join(', ')}.`;
  // The chart's roles were changed by somebody else, who now owns their fields.
  const values = '--set rbac.create=true --force-conflicts # Helm 3: without --force-conflicts';
  return [{ ...common, message, command: upgrade(workload, values) }];
}

const lackedBy = (
  { kind, namespace, serviceAccount }: Workload,
  { missingRights }: Installation,
): readonly Right[] =>
  missingRights
    .filter(
      (missing) =>
        missing.kind === kind && missing.namespace === namespace && missing.serviceAccount === serviceAccount,
    )
    .flatMap(({ rights }) => rights);

/** The command that grants a policy the rights that the values of the chart leave out; undefined = none is known to be left out. */
export function commandThatGrants(needed: readonly Right[], found: Installation): string | undefined {
  const texts = needed.map(rightText);
  for (const controller of found.controllers ?? []) {
    const lacked = lackedBy(controller, found).filter((right) => texts.includes(rightText(right)));
    const values = valuesThatGrant(lacked).map((value) => `--set ${value}=true`);
    if (values.length > 0) return upgrade(controller, values.join(' '));
  }
  return undefined;
}

/** Nodes for which no DaemonSet makes a pod because the values of the chart say so, and why. */
export function excludedNodes({
  agents = [],
  nodes = [],
}: Installation): readonly { readonly names: readonly string[]; readonly why: string }[] {
  const excluded = nodes.flatMap((node) => {
    const reasons = agents.map((daemonSet) => exclusionOf(node, daemonSet));
    const [why] = reasons;
    return why === undefined || why === cannotRun || reasons.includes(undefined) ? [] : [{ why, node }];
  });
  const groups = Map.groupBy(excluded, ({ why }) => why);
  return [...groups].map(([why, group]) => ({ why, names: group.map(({ node }) => node.name).toSorted() }));
}

function unpinned(agents: Workload, { admissionPolicies }: Installation): readonly Problem[] {
  const names = agents.admissionPolicies.filter((policy) => admissionPolicies?.includes(policy) === false);
  if (names.length === 0) return [];
  const message =
    'Without the policy and its binding, the token of an agent can write the reports of other nodes.';
  const command = upgrade(agents, '--set admissionPolicy.enabled=true');
  return [{ kind: 'AdmissionPolicy', names, reason: 'AdmissionPolicyMissing', message, command }];
}

const componentOf = ({ kind }: Workload): string => (kind === 'Deployment' ? 'controller' : 'agent');

type Cause = Pick<Problem, 'reason' | 'message' | 'command' | 'since'>;

/** The causes for which pods of a workload are missing or not ready, with their nodes. */
function groupedCauses(workload: Workload, found: Installation, now: Date) {
  const { namespace, instance } = workload;
  const pods = found.pods.filter(
    (pod) =>
      pod.namespace === namespace && pod.instance === instance && pod.component === componentOf(workload),
  );
  const waiting = pods
    .filter(({ ready }) => !ready)
    .map((pod) => ({ cause: causeOfPod(pod, workload, found), pod }))
    .filter(({ cause, pod }) => cause.reason !== 'NotReady' || !isStarting(pod, now));
  const groups = Map.groupBy(waiting, ({ cause }) => JSON.stringify([cause.reason, cause.message]));
  const ofPods = [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ cause }) => ({
      cause,
      nodes: group
        .flatMap(({ pod }) => (workload.kind === 'DaemonSet' ? (pod.nodeName ?? []) : []))
        .toSorted(),
    })),
  );
  const refusal = pods.length < workload.desired ? refusalOf(workload, found) : undefined;
  const known = [...(refusal ? [{ cause: refusal, nodes: [] }] : []), ...ofPods];
  const starting = [workload, ...pods.filter(({ ready }) => !ready)].filter((starter) =>
    isStarting(starter, now),
  );
  return known.length > 0 || starting.length > 0 ? known : [{ cause: unknownCause(workload), nodes: [] }];
}

function unknownCause({ namespace, desired, ready }: Workload): Cause {
  const message = `Of ${desired} pods ${ready} are ready. No pod and no Event shows the cause.`;
  return { reason: 'NotReady', message, command: `kubectl -n ${namespace} get pods -o wide` };
}

/** The time in which a pod that can start is ready, and an agent reports. */
const startMs = 60_000;

export const isStarting = ({ createdTime }: { readonly createdTime: string }, now: Date): boolean =>
  now.getTime() - Date.parse(createdTime) < startMs;

/** Why no pod can be created; undefined = no Event shows it. */
function refusalOf(workload: Workload, { warnings }: Installation): Cause | undefined {
  const { namespace, name, kind, failure } = workload;
  const event = warnings
    .filter((warning) => warning.namespace === namespace && warning.reason === 'FailedCreate')
    .filter((warning) =>
      kind === 'DaemonSet'
        ? warning.kind === kind && warning.name === name
        : warning.name.startsWith(`${name}-`),
    )
    .toSorted((a, b) => (a.time < b.time ? 1 : -1))[0];
  const message = event?.message ?? failure;
  if (message === '') return undefined;
  const known = refusals.find(({ pattern }) => pattern.test(message));
  const command =
    known?.command(workload) ?? `kubectl -n ${namespace} get events --field-selector type=Warning`;
  return { reason: known?.reason ?? 'PodRefused', message, command, since: event?.time };
}

const refusals: readonly {
  readonly reason: string;
  readonly pattern: RegExp;
  readonly command: (workload: Workload) => string;
}[] = [
  {
    // GKE admits critical pods outside of kube-system only with a quota of their priority class.
    reason: 'Quota',
    pattern: /insufficient quota/,
    command: (workload) =>
      upgrade(workload, `--set platform=gke # or ${componentOf(workload)}.priorityClassName=`),
  },
  {
    reason: 'Quota',
    pattern: /exceeded quota|failed quota/,
    command: ({ namespace }) => `kubectl -n ${namespace} describe resourcequota`,
  },
  {
    reason: 'PodSecurity',
    pattern: /violates PodSecurity/,
    command: ({ namespace }) =>
      `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`,
  },
  {
    reason: 'SecurityContextConstraints',
    pattern: /unable to validate against any security context constraint/,
    command: (workload) => upgrade(workload, '--set platform=openshift'),
  },
  {
    reason: 'PriorityClass',
    pattern:
      /no PriorityClass with name|priority class.* is not permitted|pods with .* priorityClass is not permitted/i,
    command: (workload) => upgrade(workload, `--set ${componentOf(workload)}.priorityClassName=`),
  },
];

function causeOfPod(pod: OwnPod, workload: Workload, { warnings }: Installation): Cause {
  const { namespace, name, reason, message } = pod;
  const describe = `kubectl -n ${namespace} describe pod ${name}`;
  if (/^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason)) {
    const command = upgrade(workload, '--set image.registry=… --set image.tag=…');
    return { reason: 'Image', message, command };
  }
  if (reason === 'CrashLoopBackOff') {
    const command = `kubectl -n ${namespace} logs ${name} --previous --tail=20`;
    return { reason, message: 'Its container has ended several times.', command };
  }
  if (reason !== '' && reason !== 'ContainerCreating') return { reason, message, command: describe };
  const mount = warnings.find(
    (warning) => warning.namespace === namespace && warning.name === name && warning.reason === 'FailedMount',
  );
  if (mount === undefined) return { reason: 'NotReady', message: 'The pod is not ready.', command: describe };
  const failed = { message: mount.message, since: mount.time };
  if (!mount.message.includes('hostPath')) return { ...failed, reason: mount.reason, command: describe };
  const command = upgrade(workload, '--set platform=… # or agent.runtime, agent.hostPaths');
  return { ...failed, reason: 'Path', command };
}

/** What holds up removals, by the reason of the controller's Event. */
const obstacles: ReadonlyMap<string, string> = new Map([
  ['EvictionBlocked', 'A disruption budget, or the API server, refused the eviction.'],
  ['EvictionsStopped', 'Evictions freed nothing, so no more followed.'],
  ['ExceededGracePeriod', 'The evicted pod had not ended in its grace period.'],
]);

const stuckText = (cause: string): string =>
  `The pod was stuck. ${stuckMeanings[isStuckCause(cause) ? cause : 'Other']}`;

const plainName = /^[a-z0-9.-]*$/;

/** A series of Events is written every 30 minutes. */
const recentMs = 35 * 60_000;

interface Known extends Pick<Installation, 'nodes'> {
  /** The UIDs of the pods whose eviction the nodes request; undefined = not known. */
  readonly requested: ReadonlySet<string> | undefined;
  readonly now: Date;
}

/** Whether the cause of an Event has ended: its object is gone, its pod is not stuck any more, or no node requests its eviction. Unknown = it has not. */
function hasEnded({ kind, name, uid, reason, pod }: Blocked, { nodes, requested, now }: Known): boolean {
  if (kind === 'Node') return nodes?.every((node) => node.name !== name) === true;
  if (reason === 'EvictionBlocked' && uid !== '' && requested?.has(uid) === false) return true;
  if (pod === undefined) return false;
  if (pod === 'gone' || (uid !== '' && pod.uid !== uid)) return true;
  return reason === 'PodStuck' && !mayBeStuck(pod, nodes, now);
}

/** Without the nodes nobody knows whether a kubelet still ends or starts the pod. */
function mayBeStuck(pod: PodFacts, nodes: Installation['nodes'], now: Date): boolean {
  if (nodes === undefined) return (pod.deletionAtMs ?? pod.wait) !== undefined;
  return stuckPods([pod], new Map(nodes.map((node) => [node.name, node])), now).length > 0;
}

/** Removals that something outside of dustpan holds up, by the latest Event about each object. */
export function blockedWork(
  { blocked, nodes }: Pick<Installation, 'blocked' | 'nodes'>,
  requested: ReadonlySet<string> | undefined,
  now: Date,
): readonly Problem[] {
  // Whoever may create Events chooses the names in them.
  const recent = blocked.filter(
    ({ time, namespace, name }) =>
      now.getTime() - Date.parse(time) < recentMs && [namespace, name].every((text) => plainName.test(text)),
  );
  const lasting = recent.filter((event) => !hasEnded(event, { nodes, requested, now }));
  return lasting.flatMap(({ kind, namespace, name, reason, cause, time: since }) => {
    const message = reason === 'PodStuck' ? stuckText(cause) : obstacles.get(reason);
    if (message === undefined) return [];
    const object = kind === 'Node' ? name : `${namespace}/${name}`;
    const command = kind === 'Pod' ? `dustpan why pod ${object}` : 'dustpan plan';
    return [{ kind: 'Blocked', names: [`${kind} ${object}`], reason, message, command, since }];
  });
}
