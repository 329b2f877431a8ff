import {
  isLed,
  type Controller,
  type Installation,
  type OwnNode,
  type OwnPod,
  type Workload,
} from './facts.ts';

/** Something of the installation that keeps dustpan from working. */
export interface InstallationProblem {
  readonly kind: 'Installation' | 'Controller' | 'Agent' | 'CRD' | 'AdmissionPolicy' | 'Blocked';
  /** The objects that have it; of agents, their nodes where they are known. */
  readonly names: readonly string[];
  readonly reason: string;
  readonly message: string;
  /** What mends it. */
  readonly command: string;
  /** RFC 3339; undefined = not known. */
  readonly since?: string | undefined;
}

const install = 'helm install dustpan helm/dustpan -n dustpan-system --create-namespace';
/** With the values that the release has. */
const upgrade = (namespace: string, values: string): string =>
  `helm upgrade dustpan helm/dustpan -n ${namespace} --reuse-values ${values}`;

/** All problems of the installation. Nothing that could not be read is one. */
export function installationProblems(found: Installation, now: Date): readonly InstallationProblem[] {
  const { controllers = [], agents = [], unread } = found;
  const isWholeCluster = !unread.some((what) => /^(deployments|daemonsets) of all namespaces$/.test(what));
  const hasNoController = controllers.length === 0 && isWholeCluster;
  if (hasNoController && agents.length === 0) return [notInstalled(found)];
  return [
    ...missingKinds(found),
    ...(hasNoController ? [noController(agents)] : []),
    ...controllers.flatMap((one) => ofController(one, found, now)),
    ...agents.flatMap((one) => [...ofAgents(one, found, now), ...unpinned(one, found)]),
  ];
}

function notInstalled({ kinds }: Installation): InstallationProblem {
  const rest = kinds.some(({ isInstalled }) => isInstalled)
    ? ' Its CRDs are still there, with their policies.'
    : '';
  return {
    kind: 'Installation',
    names: ['dustpan'],
    reason: 'NotInstalled',
    message: `The cluster has neither a controller nor an agent: nothing is removed or measured.${rest}`,
    command: install,
  };
}

function missingKinds({ kinds }: Installation): readonly InstallationProblem[] {
  return kinds.flatMap(({ name, isInstalled, unservedVersions }): readonly InstallationProblem[] => {
    const names = [`${name}.gc.dustpan.dev`];
    if (!isInstalled) {
      const message = 'The kind is not installed: without it dustpan removes nothing.';
      return [
        {
          kind: 'CRD',
          names,
          reason: 'KindMissing',
          message,
          command: 'kubectl apply --server-side -f crds.yaml',
        },
      ];
    }
    if (unservedVersions.length === 0) return [];
    const message = `Objects are stored in a version that is not served: ${unservedVersions.join(', ')}.`;
    return [
      {
        kind: 'CRD',
        names,
        reason: 'VersionUnserved',
        message,
        command: `kubectl get crd ${names.join('')} -o yaml`,
      },
    ];
  });
}

function noController(agents: readonly Workload[]): InstallationProblem {
  const namespace = agents[0]?.namespace ?? 'dustpan-system';
  return {
    kind: 'Controller',
    names: [namespace],
    reason: 'NoController',
    message: 'There is no Deployment of the controller: no pod is removed.',
    command: upgrade(namespace, '--set controller.enabled=true'),
  };
}

function ofController(
  controller: Controller,
  found: Installation,
  now: Date,
): readonly InstallationProblem[] {
  const { namespace, name, wanted, ready, lease, createdTime } = controller;
  const names = [`${namespace}/${name}`];
  if (wanted === 0) {
    const command = `kubectl -n ${namespace} scale deployment ${name} --replicas=1`;
    const message = 'The Deployment is scaled to 0: no pod is removed.';
    return [{ kind: 'Controller', names, reason: 'ScaledToZero', message, command }];
  }
  const refused = withoutRights(controller, found);
  if (refused.length > 0) return refused;
  const pods = podsOf(found, controller);
  const causes = ready < wanted ? groupedCauses(controller, pods, found, now) : [];
  const troubles = causes.map(({ cause }) => ({ ...cause, kind: 'Controller' as const, names }));
  if (troubles.length > 0) return troubles;
  if (isLed(controller, now) !== false) return [];
  const since = typeof lease === 'object' ? lease.renewedTime : createdTime;
  const message = 'No controller holds the Lease: no pod is removed.';
  const command = `kubectl -n ${namespace} logs deployment/${name} --tail=20`;
  return [{ kind: 'Controller', names, reason: 'NoLeader', message, command, since }];
}

function ofAgents(agents: Workload, found: Installation, now: Date): readonly InstallationProblem[] {
  const { namespace, name, wanted, ready } = agents;
  const refused = withoutRights(agents, found);
  if (refused.length > 0) return refused;
  const causes = ready < wanted ? groupedCauses(agents, podsOf(found, agents), found, now) : [];
  return causes.map(({ cause, nodes }) => ({
    ...cause,
    kind: 'Agent' as const,
    names: nodes.length > 0 ? nodes : [`${namespace}/${name}`],
  }));
}

function withoutRights(workload: Workload, { missingRights }: Installation): readonly InstallationProblem[] {
  const { kind, namespace, serviceAccount, name } = workload;
  return missingRights
    .filter(
      (one) => one.kind === kind && one.namespace === namespace && one.serviceAccount === serviceAccount,
    )
    .map(({ rights }) => ({
      kind: kind === 'Deployment' ? 'Controller' : 'Agent',
      names: [`${namespace}/${name}`],
      reason: 'MissingRights',
      message: `Its ServiceAccount ${serviceAccount} may not ${rights.join(', ')}.`,
      command: upgrade(namespace, '--set rbac.create=true'),
    }));
}

/** Nodes for which the DaemonSet makes no pod because the values of the chart say so, and why. */
export function excludedNodes(
  found: Installation,
): readonly { readonly names: readonly string[]; readonly why: string }[] {
  const { agents = [], nodes = [] } = found;
  return agents.flatMap((one) => {
    const withPod = new Set(podsOf(found, one).map(({ nodeName }) => nodeName));
    const without = one.wanted < nodes.length ? nodes.filter(({ name }) => !withPod.has(name)) : [];
    const groups = Map.groupBy(without, (node) => exclusionOf(node, one) ?? '');
    groups.delete('');
    return [...groups].map(([why, group]) => ({ names: group.map(({ name }) => name).toSorted(), why }));
  });
}

/** Without a full stop; undefined = the DaemonSet should make one, or the node cannot run one. */
function exclusionOf(
  { labels, taintKeys }: OwnNode,
  { nodeSelector, tolerates }: Workload,
): string | undefined {
  if (labels['type'] === 'virtual-kubelet' || labels['eks.amazonaws.com/compute-type'] === 'fargate')
    return undefined;
  const unmet = Object.entries(nodeSelector).find(([key, value]) => labels[key] !== value);
  // A node of another operating system is meant to have none.
  if (unmet !== undefined)
    return unmet[0] === 'kubernetes.io/os'
      ? undefined
      : `agent.nodeSelector wants the label ${unmet.join('=')}`;
  const taint = tolerates === 'all' ? undefined : taintKeys.find((key) => !tolerates.includes(key));
  return taint === undefined ? undefined : `agent.tolerations has none for the taint ${taint}`;
}

function unpinned(agents: Workload, { admissionPolicies }: Installation): readonly InstallationProblem[] {
  const missing = agents.admissionPolicies.filter((one) => admissionPolicies?.includes(one) === false);
  if (missing.length === 0) return [];
  return [
    {
      kind: 'AdmissionPolicy',
      names: missing,
      reason: 'AdmissionPolicyMissing',
      message:
        'Without the policy and its binding, the token of an agent can write the reports of other nodes.',
      command: upgrade(agents.namespace, '--set admissionPolicy.enabled=true'),
    },
  ];
}

const podsOf = ({ pods }: Installation, { namespace, kind }: Workload): readonly OwnPod[] =>
  pods.filter(
    (pod) =>
      pod.namespace === namespace && pod.component === (kind === 'Deployment' ? 'controller' : 'agent'),
  );

type Cause = Pick<InstallationProblem, 'reason' | 'message' | 'command' | 'since'>;

/** The causes for which pods of a workload are missing or not ready, with their nodes. */
function groupedCauses(workload: Workload, pods: readonly OwnPod[], found: Installation, now: Date) {
  const waiting = pods
    .filter(({ ready }) => !ready)
    .map((pod) => ({ cause: causeOfPod(pod, found), pod }))
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
  const refusal = pods.length < workload.wanted ? refusalOf(workload, found) : undefined;
  return [...(refusal ? [{ cause: refusal, nodes: [] }] : []), ...ofPods];
}

/** The time in which a pod that can start is ready, and an agent reports. */
const startMs = 60_000;

export const isStarting = ({ createdTime }: { readonly createdTime: string }, now: Date): boolean =>
  now.getTime() - Date.parse(createdTime) < startMs;

/** Why no pod can be created; undefined = no Event says so. */
function refusalOf(workload: Workload, { warnings }: Installation): Cause | undefined {
  const { namespace, name, kind, failure } = workload;
  const event = warnings
    .filter((one) => one.namespace === namespace && one.reason === 'FailedCreate')
    .filter((one) =>
      kind === 'DaemonSet' ? one.kind === kind && one.name === name : one.name.startsWith(`${name}-`),
    )
    .toSorted((a, b) => (a.time < b.time ? 1 : -1))[0];
  const message = event?.message ?? failure;
  if (message === '') return undefined;
  const known = refusals.find(({ pattern }) => pattern.test(message));
  const command =
    known?.command(namespace) ?? `kubectl -n ${namespace} get events --field-selector type=Warning`;
  return { reason: known?.reason ?? 'PodRefused', message, command, since: event?.time };
}

const refusals: readonly {
  readonly reason: string;
  readonly pattern: RegExp;
  readonly command: (namespace: string) => string;
}[] = [
  {
    // GKE admits critical pods outside of kube-system only with a quota of their priority class.
    reason: 'Quota',
    pattern: /insufficient quota/,
    command: (namespace) => upgrade(namespace, '--set platform=gke # or agent.priorityClassName='),
  },
  {
    reason: 'Quota',
    pattern: /exceeded quota|failed quota/,
    command: (namespace) => `kubectl -n ${namespace} describe resourcequota`,
  },
  {
    reason: 'PodSecurity',
    pattern: /violates PodSecurity/,
    command: (namespace) =>
      `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`,
  },
  {
    reason: 'SecurityContextConstraints',
    pattern: /unable to validate against any security context constraint/,
    command: (namespace) =>
      `oc adm policy add-scc-to-user privileged -n ${namespace} -z dustpan-agent # the controller: nonroot-v2`,
  },
  {
    reason: 'PriorityClass',
    pattern:
      /no PriorityClass with name|priority class.* is not permitted|pods with .* priorityClass is not permitted/i,
    command: (namespace) => upgrade(namespace, '--set agent.priorityClassName='),
  },
];

function causeOfPod(pod: OwnPod, { warnings }: Installation): Cause {
  const { namespace, name, reason, message } = pod;
  const mount = warnings.find(
    (one) => one.namespace === namespace && one.name === name && one.reason === 'FailedMount',
  );
  const why = `kubectl -n ${namespace} describe pod ${name}`;
  if (/^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason))
    return {
      reason: 'Image',
      message,
      command: upgrade(namespace, '--set image.registry=… --set image.tag=…'),
    };
  if (mount !== undefined)
    return {
      reason: 'Path',
      message: mount.message,
      command: upgrade(namespace, '--set platform=… # or agent.runtime, agent.hostPaths'),
      since: mount.time,
    };
  if (reason === 'CrashLoopBackOff')
    return {
      reason,
      message: 'Its container ends again and again.',
      command: `kubectl -n ${namespace} logs ${name} --previous --tail=20`,
    };
  if (reason !== '' && reason !== 'ContainerCreating') return { reason, message, command: why };
  return { reason: 'NotReady', message: 'The pod is not ready.', command: why };
}

/** What holds up removals, by the reason of the controller's Event. */
const holdups: Readonly<Record<string, string>> = {
  FinalizerHeld: 'Deleted pods wait for the finalizers of others.',
  EvictionBlocked: 'A disruption budget, or the API server, refuses the eviction.',
  EvictionsSlowed: 'More pods are due for eviction than their owner may lose in a minute.',
  EvictionsStopped: 'Evictions freed nothing, so no more follow.',
  ExceededGracePeriod: 'An evicted pod has not ended in its grace period.',
};

/** A series of Events is written every 30 minutes. */
const recentMs = 35 * 60_000;

/** Removals that something outside of dustpan holds up, by the latest Event about each object. */
export function blockedWork({ blocked }: Installation, now: Date): readonly InstallationProblem[] {
  const recent = blocked.filter(({ time }) => now.getTime() - Date.parse(time) < recentMs);
  return recent.flatMap(({ kind, namespace, name, reason, time: since }) => {
    const message = holdups[reason];
    if (message === undefined) return [];
    const object = kind === 'Node' ? name : `${namespace}/${name}`;
    const command = kind === 'Pod' ? `dustpan why pod ${object}` : 'dustpan plan';
    return [{ kind: 'Blocked', names: [`${kind} ${object}`], reason, message, command, since }];
  });
}
