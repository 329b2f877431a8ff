import type {
  CoreV1Event,
  EventsV1Event,
  V1DaemonSet,
  V1Deployment,
  V1Lease,
  V1ObjectMeta,
  V1Pod,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import { eventAnnotations } from '../../api/event-refs.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { asList, asObject, asObjects, asText, type Unchecked } from '../../kube/codec/json.ts';
import type { KubeResponse } from '../../kube/http/transport.ts';
import { holderPod, type HolderPod } from '../../kube/lease/record.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Blocked, Lease, OwnPod, Warning, Workload } from './facts.ts';

/** On the DaemonSet of the agents: the names of the admission policies that the chart has installed for them. */
const admissionAnnotation = 'gc.dustpan.dev/admission-policies';
/** On the Deployment of the controller: why the chart has installed no agents. */
const noAgentsAnnotation = 'gc.dustpan.dev/no-agents';

export interface WorkloadWithArgs extends Workload {
  readonly component: string;
  readonly args: readonly string[];
  readonly noAgents: string;
}

export function workloadOf(kind: Workload['kind'], json: unknown): WorkloadWithArgs {
  const { metadata, spec, status } = asObject<V1Deployment & V1DaemonSet>(json);
  const { labels, annotations } = asObject(metadata);
  const { replicas = 1, template } = asObject(spec);
  const state = asObject(status);
  const podSpec = asObject(asObject(template).spec);
  const [container] = asObjects(podSpec.containers);
  const failure = asObjects(state.conditions).find(({ type }) => type === 'ReplicaFailure');
  return {
    ...identityOf(metadata),
    kind,
    version: asText(asObject(labels)['app.kubernetes.io/version']),
    serviceAccount: asText(podSpec.serviceAccountName) || 'default',
    desired: Number((kind === 'Deployment' ? replicas : state.desiredNumberScheduled) ?? 0),
    ready: Number((kind === 'Deployment' ? state.readyReplicas : state.numberReady) ?? 0),
    failure: asText(failure?.message),
    nodeSelector: textsOf(podSpec.nodeSelector),
    tolerates: toleratedKeys(asObjects(podSpec.tolerations).map(({ key }) => asText(key))),
    admissionPolicies: asText(asObject(annotations)[admissionAnnotation])
      .split(',')
      .filter((name) => name !== ''),
    noAgents: asText(asObject(annotations)[noAgentsAnnotation]),
    args: asList(container?.args).map(asText),
  };
}

function identityOf(metadata: Unchecked<V1Pod>['metadata']) {
  const { namespace, name, labels, creationTimestamp } = asObject<V1ObjectMeta>(metadata);
  return {
    namespace: asText(namespace),
    name: asText(name),
    component: asText(asObject(labels)['app.kubernetes.io/component']),
    instance: asText(asObject(labels)['app.kubernetes.io/instance']),
    createdTime: asText(creationTimestamp),
  };
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(asObject(value)).map(([key, text]) => [key, asText(text)]));

const toleratedKeys = (keys: readonly string[]): Workload['tolerates'] => (keys.includes('') ? 'all' : keys);

/** undefined = it has ended, or ends. */
export function podOf(json: unknown): OwnPod | undefined {
  const { metadata, spec, status } = asObject<V1Pod>(json);
  const { conditions, containerStatuses, phase } = asObject(status);
  const isEnding = asObject(metadata).deletionTimestamp !== undefined;
  if (isEnding || isFinished({ phase: asText(phase) })) return undefined;
  const conditionOf = (name: string, value: string) =>
    asObjects(conditions).find((condition) => condition.type === name && condition.status === value);
  const waiting = asObjects(containerStatuses)
    .map(({ state }) => asObject(asObject(state).waiting))
    .find(({ reason }) => reason !== undefined);
  const why = waiting ?? conditionOf('PodScheduled', 'False');
  return {
    ...identityOf(metadata),
    nodeName: asText(asObject(spec).nodeName) || wantedNode(spec),
    ready: conditionOf('Ready', 'True') !== undefined,
    reason: asText(why?.reason),
    message: asText(why?.message),
  };
}

/** The pod of a DaemonSet that is not bound names its node in its affinity. */
function wantedNode(spec: Unchecked<V1Pod>['spec']): string | undefined {
  const { nodeAffinity } = asObject(asObject(spec).affinity);
  const required = asObject(asObject(nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution);
  const fields = asObjects(required.nodeSelectorTerms).flatMap((term) => asObjects(term.matchFields));
  return asText(asList(fields.find(({ key }) => key === 'metadata.name')?.values)[0]) || undefined;
}

export function blockedOf(json: unknown): Blocked | undefined {
  const warning = warningOf(json);
  const { metadata, regarding } = asObject<EventsV1Event>(json);
  const cause = asText(asObject(asObject(metadata).annotations)[eventAnnotations.cause]);
  return warning && { ...warning, uid: asText(asObject(regarding).uid), cause, pod: undefined };
}

/** undefined = it is not a warning. */
export function warningOf(json: unknown): Warning | undefined {
  const event = asObject<EventsV1Event & CoreV1Event>(json);
  if (event.type !== 'Warning') return undefined;
  const { namespace, kind, name } = asObject(event.regarding);
  const times = [asObject(event.series).lastObservedTime, event.deprecatedLastTimestamp, event.eventTime];
  return {
    namespace: asText(namespace),
    kind: asText(kind),
    name: asText(name),
    reason: asText(event.reason),
    message: asText(event.note),
    time:
      [...times, asObject(event.metadata).creationTimestamp].map(asText).find((time) => time !== '') ?? '',
  };
}

export function podHolding({ metadata }: Unchecked<V1Lease>, holderIdentity: string): HolderPod | undefined {
  const annotations = textsOf(asObject(metadata).annotations);
  return holderPod({ metadata: { annotations }, spec: { holderIdentity } });
}

export function leaseOf(lease: Unchecked<V1Lease>, headers: KubeResponse['headers']): Lease {
  const spec = asObject(lease.spec);
  const holder = asText(spec.holderIdentity);
  return {
    holder,
    holderNamespace: podHolding(lease, holder)?.namespace,
    acquiredTime: asText(spec.acquireTime),
    renewedTime: asText(spec.renewTime),
    termSeconds: Number(spec.leaseDurationSeconds ?? 0),
    readTime: asText(headers['date']) || clock.now().toISOString(),
  };
}

export const uidOf = (json: unknown): string => asText(asObject(asObject<V1Pod>(json).metadata).uid);
export const nameOf = (json: unknown): string => asText(asObject(asObject<V1Pod>(json).metadata).name);
export const policyNameOf = (json: unknown): string =>
  asText(asObject(asObject<V1ValidatingAdmissionPolicyBinding>(json).spec).policyName);
