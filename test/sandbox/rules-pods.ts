import { cause, type StatusCause } from './failure.ts';
import { asList, asObject, asText, isEqual, without, type JsonObject, type KubeObject } from './json.ts';
import type { Rules } from './rules.ts';

/** Pods are created Pending, keep their spec, and are found by node and phase. */
export const podRules: Rules = {
  generation: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
  decode: () => undefined,
  admit: (object, old) =>
    old === undefined
      ? { object: newPod(object), causes: specCauses(asObject(object['spec'])) }
      : { object, causes: changeCauses(asObject(object['spec']), asObject(old['spec'])) },
  fields: (pod) => ({
    'spec.nodeName': asText(asObject(pod['spec'])['nodeName']),
    'spec.restartPolicy': asText(asObject(pod['spec'])['restartPolicy']),
    'spec.schedulerName': asText(asObject(pod['spec'])['schedulerName']),
    'spec.serviceAccountName': asText(asObject(pod['spec'])['serviceAccountName']),
    'status.phase': asText(asObject(pod['status'])['phase']),
    'status.podIP': asText(asObject(pod['status'])['podIP']),
    'status.nominatedNodeName': asText(asObject(pod['status'])['nominatedNodeName']),
  }),
};

function newPod(pod: KubeObject): KubeObject {
  const spec = { ...podDefaults, ...asObject(pod['spec']) };
  return { ...pod, spec, status: { phase: 'Pending', qosClass: 'BestEffort' } };
}

/** Those of the server's defaults that something in dustpan could look at. */
const podDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
  priority: 0,
};

function specCauses(spec: JsonObject): readonly StatusCause[] {
  return asList(spec['containers']).length === 0 ? [cause.required('spec.containers')] : [];
}

const immutableSpec =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,' +
  '`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function changeCauses(spec: JsonObject, old: JsonObject): readonly StatusCause[] {
  return isEqual(fixedPart(spec), fixedPart(old)) ? [] : [cause.forbidden('spec', immutableSpec)];
}

function fixedPart(spec: JsonObject): JsonObject {
  const images = (list: unknown): unknown => asList(list).map((item) => without(asObject(item), 'image'));
  const rest = without(spec, 'activeDeadlineSeconds', 'tolerations');
  return { ...rest, containers: images(spec['containers']), initContainers: images(spec['initContainers']) };
}
