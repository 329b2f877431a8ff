import type {
  CoreV1Event,
  EventsV1Event,
  V1Affinity,
  V1ContainerStatus,
  V1DaemonSet,
  V1Deployment,
  V1ObjectMeta,
  V1Pod,
  V1PodSpec,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import { isFinished } from '../../api/pod-phase.ts';
import {
  asList,
  asObject,
  asObjects,
  asText,
  type JsonObject,
  type Unchecked,
} from '../../kube/codec/json.ts';
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
  const { metadata, spec, status }: Unchecked<V1Deployment & V1DaemonSet> = asObject(json);
  const meta: Unchecked<V1ObjectMeta> = asObject(metadata);
  const labels = asObject(meta.labels);
  const annotations = asObject(meta.annotations);
  const { replicas = 1, template } = asObject(spec);
  const state = asObject(status);
  const podSpec: Unchecked<V1PodSpec> = asObject(asObject(template)['spec']);
  const [container] = asObjects(podSpec.containers);
  const failure = asObjects(state['conditions']).find(({ type }) => type === 'ReplicaFailure');
  return {
    kind,
    namespace: asText(meta.namespace),
    name: asText(meta.name),
    component: asText(labels['app.kubernetes.io/component']),
    instance: asText(labels['app.kubernetes.io/instance']),
    version: asText(labels['app.kubernetes.io/version']),
    createdTime: asText(meta.creationTimestamp),
    serviceAccount: asText(podSpec.serviceAccountName) || 'default',
    desired: Number((kind === 'Deployment' ? replicas : state['desiredNumberScheduled']) ?? 0),
    ready: Number((kind === 'Deployment' ? state['readyReplicas'] : state['numberReady']) ?? 0),
    failure: asText(failure?.['message']),
    nodeSelector: textsOf(podSpec.nodeSelector),
    tolerates: toleratedKeys(asObjects(podSpec.tolerations)),
    admissionPolicies: asText(annotations[admissionAnnotation])
      .split(',')
      .filter((one) => one !== ''),
    noAgents: asText(annotations[noAgentsAnnotation]),
    args: asList(container?.['args']).map(asText),
  };
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(asObject(value)).map(([key, text]) => [key, asText(text)]));

function toleratedKeys(tolerations: readonly Readonly<Record<string, unknown>>[]): Workload['tolerates'] {
  const keys = tolerations.map(({ key }) => asText(key));
  return keys.includes('') ? 'all' : keys;
}

/** undefined = it has ended, or ends. */
export function podOf(json: unknown): OwnPod | undefined {
  const { metadata, spec, status }: Unchecked<V1Pod> = asObject(json);
  const meta: Unchecked<V1ObjectMeta> = asObject(metadata);
  const { nodeName, affinity }: Unchecked<V1PodSpec> = asObject(spec);
  const { conditions, containerStatuses, phase } = asObject(status);
  if (meta.deletionTimestamp !== undefined || isFinished({ phase: asText(phase) })) return undefined;
  const labels = asObject(meta.labels);
  const isTrue = (type: string): boolean =>
    asObjects(conditions).some((one) => one['type'] === type && one['status'] === 'True');
  const unscheduled = asObjects(conditions).find(
    (one) => one['type'] === 'PodScheduled' && one['status'] === 'False',
  );
  const waiting = asObjects(containerStatuses)
    .map(({ state }: Unchecked<V1ContainerStatus>) => asObject(asObject(state)['waiting']))
    .find(({ reason }) => reason !== undefined);
  const why = waiting ?? unscheduled;
  return {
    namespace: asText(meta.namespace),
    name: asText(meta.name),
    component: asText(labels['app.kubernetes.io/component']),
    instance: asText(labels['app.kubernetes.io/instance']),
    nodeName: asText(nodeName) || wantedNode(affinity),
    ready: isTrue('Ready'),
    createdTime: asText(meta.creationTimestamp),
    reason: asText(why?.['reason']),
    message: asText(why?.['message']),
  };
}

/** The pod of a DaemonSet that is not bound names its node in its affinity. */
function wantedNode(affinity: unknown): string | undefined {
  const { nodeAffinity }: Unchecked<V1Affinity> = asObject(affinity);
  const required = asObject(asObject(nodeAffinity)['requiredDuringSchedulingIgnoredDuringExecution']);
  const fields = asObjects(required['nodeSelectorTerms']).flatMap((term) => asObjects(term['matchFields']));
  return asText(asList(fields.find(({ key }) => key === 'metadata.name')?.['values'])[0]) || undefined;
}

export function blockedOf(json: unknown): Blocked | undefined {
  const warning = warningOf(json);
  const { regarding }: Unchecked<EventsV1Event> = asObject(json);
  return warning && { ...warning, uid: asText(asObject(regarding)['uid']), pod: undefined };
}

/** undefined = it is not a warning. */
export function warningOf(json: unknown): Warning | undefined {
  const event: Unchecked<EventsV1Event & CoreV1Event> = asObject(json);
  if (event.type !== 'Warning') return undefined;
  const meta: Unchecked<V1ObjectMeta> = asObject(event.metadata);
  const { namespace, kind, name } = asObject(event.regarding);
  const times = [asObject(event.series)['lastObservedTime'], event.deprecatedLastTimestamp, event.eventTime];
  return {
    namespace: asText(namespace),
    kind: asText(kind),
    name: asText(name),
    reason: asText(event.reason),
    message: asText(event.note),
    time: [...times, meta.creationTimestamp].map(asText).find((one) => one !== '') ?? '',
  };
}

/** The pod of the holder, if the Lease names it. */
export function podHolding({ metadata }: JsonObject, holderIdentity: string): HolderPod | undefined {
  const annotations = textsOf(asObject(asObject(metadata)['annotations']));
  return holderPod({ metadata: { annotations }, spec: { holderIdentity } });
}

export function leaseOf(json: JsonObject, headers: KubeResponse['headers']): Lease {
  const spec = asObject(json['spec']);
  const holder = asText(spec['holderIdentity']);
  return {
    holder,
    holderNamespace: podHolding(json, holder)?.namespace,
    acquiredTime: asText(spec['acquireTime']),
    renewedTime: asText(spec['renewTime']),
    termSeconds: Number(spec['leaseDurationSeconds'] ?? 0),
    readTime: asText(headers['date']) || clock.now().toISOString(),
  };
}

export const uidOf = (json: unknown): string => asText(asObject(asObject(json)['metadata'])['uid']);
export const nameOf = (json: unknown): string => asText(asObject(asObject(json)['metadata'])['name']);

export function policyNameOf(json: unknown): string {
  const { spec }: Unchecked<V1ValidatingAdmissionPolicyBinding> = asObject(json);
  return asText(asObject(spec)['policyName']);
}
