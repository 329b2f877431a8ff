import { doNotDisruptAnnotations } from '../../api/do-not-disrupt.ts';
import { isObject } from '../../api/json.ts';
import { SKIP_HOLD_ANNOTATION, TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { finishedByOf, PHASE_TIME } from '../../kube/cache/resources.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { each, fields, named, shortened, texts, whole, type JsonObject, type Pick } from './pick.ts';

/**
 * The fields of each kind that a snapshot has: those that a rule reads, or that people need to recognize the object. Fields that may contain a
 * secret are not among them: environment, command lines, probes, annotations of users, managedFields.
 */
const picks = {
  Pod: podObject(),
  Node: objectOf({
    spec: fields({ ...named('unschedulable'), taints: each(fields(named('key', 'value', 'effect'))) }),
    status: fields({ conditions: conditions() }),
  }),
  Namespace: objectOf({ status: fields(named('phase')) }),
  Job: objectOf({ status: fields({ conditions: conditions() }) }),
  ReplicaSet: objectOf({}),
  // The status has what a plan continues: the hold, and the circuit breaker that is open.
  GCPolicy: objectOf({
    spec: whole,
    status: fields({ hold: whole, conditions: conditions(), pods: fields(named('missingNodes')) }),
  }),
  NodeGCReport: objectOf({ status: whole }),
} as const;

export type SnapshotKind = keyof typeof picks;

/** An object of the cluster as a snapshot has it, without secrets. */
export function snapshotObject(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: SnapshotKind },
  object: unknown,
): JsonObject {
  const picked = picks[kind](object);
  return { apiVersion, kind, ...(isObject(picked) ? picked : {}) };
}

/** The annotations that rules read: of a mirror pod, those that refuse evictions, the source of a sandbox's pod, the ttl of a finished pod, and the generation of a policy that is not held. */
const podAnnotations: ReadonlySet<string> = new Set([
  'kubernetes.io/config.mirror',
  'kubernetes.io/config.source',
  ...doNotDisruptAnnotations,
  TTL_ANNOTATION,
  SKIP_HOLD_ANNOTATION,
]);

/** A finished pod whose status does not have a possible finish time has the time of its phase, from its managedFields. */
function podObject(): Pick {
  const pick = objectOf({ spec: podSpec(), status: podStatus });
  return (value) => {
    const picked = pick(value);
    const finishedByMs = finishedByOf(value);
    if (finishedByMs === undefined || !isObject(picked) || !isObject(picked['status'])) return picked;
    const status = { ...picked['status'], [PHASE_TIME]: formatRfc3339(new Date(finishedByMs)) };
    return { ...picked, status };
  };
}

function objectOf(parts: Readonly<Record<string, Pick>>): Pick {
  return fields({ metadata: metadata(), ...parts });
}

function metadata(): Pick {
  return fields({
    ...named('name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'),
    ...named('deletionTimestamp', 'deletionGracePeriodSeconds', 'labels', 'finalizers'),
    annotations: texts((name) => podAnnotations.has(name)),
    ownerReferences: each(fields(named('apiVersion', 'kind', 'name', 'uid', 'controller'))),
  });
}

function conditions(more: Readonly<Record<string, Pick>> = {}): Pick {
  return each(fields({ ...named('type', 'status', 'reason', 'lastTransitionTime'), ...more }));
}

function podSpec(): Pick {
  const storage = fields(named('ephemeral-storage'));
  const container = fields({
    ...named('name', 'image', 'imagePullPolicy', 'restartPolicy'),
    resources: fields({ limits: storage, requests: storage }),
  });
  return fields({
    ...named('nodeName', 'priority', 'priorityClassName', 'restartPolicy', 'terminationGracePeriodSeconds'),
    containers: each(container),
    initContainers: each(container),
    ephemeralContainers: each(container),
    overhead: storage,
    volumes: each(volume),
  });
}

const volumeSources: Readonly<Record<string, Pick>> = {
  emptyDir: fields(named('medium', 'sizeLimit')),
  image: fields(named('reference')),
};

/** Other volumes have only their type: what they refer to may be confidential. */
function volume(value: unknown): unknown {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, source]) => [
      key,
      key === 'name' ? source : (volumeSources[key]?.(source) ?? {}),
    ]),
  );
}

/** The part of a message that says why a pod does not start. */
const message = shortened(256);

const terminated = fields(named('exitCode', 'reason', 'startedAt', 'finishedAt'));
const endedStatus = fields({
  ...named('name'),
  state: fields({ running: fields(named('startedAt')), terminated }),
});
/** The last state of a container that waits shows whether it has run. */
const waitingStatus = fields({
  ...named('name'),
  state: fields({ waiting: fields(named('reason')) }),
  lastState: fields({ terminated }),
});
const containerStatus: Pick = (value) =>
  (isObject(value) && isObject(value['state']) && isObject(value['state']['waiting'])
    ? waitingStatus
    : endedStatus)(value);
const waiting = fields({ ...named('reason'), message });
const waitingContainer = fields({ ...named('name', 'image'), state: fields({ waiting }) });
/** Whether it works, and how it ended, shows why a pod has not started. */
const initContainer = fields({
  ...named('name', 'image'),
  state: fields({ waiting, running: fields(named('startedAt')), terminated }),
});
const running = fields({
  ...named('phase', 'reason', 'startTime'),
  conditions: conditions(),
  // Some may have ended, or wait for their images, while others run.
  containerStatuses: each(containerStatus),
  initContainerStatuses: each(containerStatus),
});
const starting = fields({
  ...named('phase', 'reason', 'startTime'),
  conditions: conditions({ message }),
  containerStatuses: each(waitingContainer),
  initContainerStatuses: each(initContainer),
});
const finished = fields({
  // Policies match the whole message.
  ...named('phase', 'reason', 'startTime', 'message'),
  conditions: conditions(),
  containerStatuses: each(containerStatus),
  initContainerStatuses: each(containerStatus),
  ephemeralContainerStatuses: each(containerStatus),
});

/** For the rules, a pod in any other phase has finished: of it they read the message, and when its containers ended. */
const byPhase: ReadonlyMap<unknown, Pick> = new Map([
  ['Running', running],
  ['Pending', starting],
  ['Unknown', starting],
]);

function podStatus(value: unknown): unknown {
  const pick = byPhase.get(isObject(value) ? value['phase'] : undefined) ?? finished;
  return pick(value);
}
