import {
  specSchema,
  validateSpec,
  type ValidSpec,
  type ValidSpecNodes,
  type ValidSpecNodesContainerGC,
  type ValidSpecNodesContainerGCLogs,
  type ValidSpecNodesImageGC,
  type ValidSpecNodesLocalStorageEviction,
  type ValidSpecNodesNodePressure,
  type ValidSpecPods,
  type ValidSpecPodsPodSelector,
  type ValidSpecPodsTerminated,
} from '../gen/gcpolicy-spec.gen.ts';
import { isObject } from '../json.ts';
import {
  parseAmount,
  thresholdSignals,
  type SignalThresholds,
  type ThresholdSignal,
} from '../node-pressure.ts';
import { SKIP_HOLD_ANNOTATION } from './matching.ts';
import { checkSchema } from './schema.ts';
import type {
  ContainerGcPolicy,
  HoldRule,
  ImageGcPolicy,
  InvalidPolicy,
  LabelSelector,
  LocalStoragePolicy,
  LogsPolicy,
  NodePressurePolicy,
  NodeSelection,
  NodesPolicy,
  PodSelection,
  PodsPolicy,
  Policy,
  TerminatedPolicy,
} from './policy.ts';
import { durationMs } from '../../runtime/text/duration.ts';
import { parseQuantity } from '../../runtime/text/quantity.ts';

/** Converts a validated spec with its defaults: times to milliseconds, sizes to bytes; absent blocks are off. */
function policyOfSpec(spec: ValidSpec): Pick<Policy, 'mode' | 'priority' | 'pods' | 'nodes'> {
  return {
    mode: spec.mode,
    priority: spec.priority,
    pods: spec.pods && podsOf(spec.pods),
    nodes: spec.nodes && nodesOf(spec.nodes, spec.pods?.excludeNamespaces),
  };
}

function podsOf(pods: ValidSpecPods): PodsPolicy {
  const { holdAbove, holdFor, ...safety } = pods.safety;
  return {
    ...podSelectionOf(pods),
    terminated: pods.terminated && terminatedOf(pods.terminated),
    orphaned: pods.orphaned && { quarantineMs: durationMs(pods.orphaned.quarantine) },
    unscheduledTerminating: pods.unscheduledTerminating !== undefined,
    outOfService: pods.outOfService !== undefined,
    safety,
    hold: holdOf(holdAbove, holdFor),
  };
}

const podSelectionOf = ({
  namespaceSelector,
  excludeNamespaces,
  podSelector,
}: Pick<ValidSpecPods, keyof PodSelection>): PodSelection => ({
  namespaceSelector: selectorOf(namespaceSelector),
  excludeNamespaces: new Set(excludeNamespaces),
  podSelector: selectorOf(podSelector),
});

function terminatedOf(terminated: ValidSpecPodsTerminated): TerminatedPolicy {
  const { perNamespaceThreshold = 0, ttlAfterFinished, ttlByReason = [] } = terminated;
  return {
    threshold: terminated.threshold,
    perNamespaceThreshold: perNamespaceThreshold > 0 ? perNamespaceThreshold : undefined,
    ttlAfterFinishedMs: ttlAfterFinished === undefined ? undefined : durationMs(ttlAfterFinished),
    ttlByReason: ttlByReason.map(({ phase, reason, messagePattern, ttl }) => ({
      phase,
      reason,
      // The empty pattern matches everything.
      messagePattern: messagePattern === '' ? undefined : messagePattern,
      ttlMs: durationMs(ttl),
    })),
    honorTTLAnnotation: terminated.honorTTLAnnotation,
    keepPerOwner: terminated.keepPerOwner,
    protectUnfinishedJobs: terminated.protectUnfinishedJobs,
  };
}

function nodesOf(nodes: ValidSpecNodes, excludedByPods: readonly string[] = []): NodesPolicy {
  return {
    ...nodeSelectionOf(nodes),
    excludeNamespaces: [...new Set([...nodes.excludeNamespaces, ...excludedByPods])],
    imageGC: nodes.imageGC && imageGcOf(nodes.imageGC),
    containerGC: nodes.containerGC && containerGcOf(nodes.containerGC),
    orphans: nodes.orphans,
    localStorageEviction: nodes.localStorageEviction && localStorageOf(nodes.localStorageEviction),
    nodePressure: nodes.nodePressure && nodePressureOf(nodes.nodePressure),
  };
}

const nodeSelectionOf = ({ nodeSelector }: Pick<ValidSpecNodes, keyof NodeSelection>): NodeSelection => ({
  nodeSelector: selectorOf(nodeSelector),
});

function imageGcOf(spec: ValidSpecNodesImageGC): ImageGcPolicy {
  const { minimumAge, maximumAge, holdAbove, holdFor, ...images } = spec;
  return {
    ...images,
    inodes: images.inodes,
    maximumAgeByImage: images.maximumAgeByImage.map((entry) => ({
      image: entry.image,
      maximumAgeMs: unlessZero(durationMs(entry.maximumAge)),
    })),
    minimumAgeMs: durationMs(minimumAge),
    maximumAgeMs: unlessZero(durationMs(maximumAge)),
    maxImagesPerPass: unlessZero(images.maxImagesPerPass),
    hold: holdOf(holdAbove, holdFor),
  };
}

function containerGcOf({ minimumAge, logs, ...containers }: ValidSpecNodesContainerGC): ContainerGcPolicy {
  return {
    minimumAgeMs: durationMs(minimumAge),
    maxPerPodContainer: unlessNegative(containers.maxPerPodContainer),
    maxContainers: unlessNegative(containers.maxContainers),
    sandboxes: containers.sandboxes,
    logs: logs && logsOf(logs),
  };
}

function logsOf(logs: ValidSpecNodesContainerGCLogs): LogsPolicy {
  return {
    ...logs,
    maxRotatedPerContainer: unlessNegative(logs.maxRotatedPerContainer),
    maxBytesPerPod: parseQuantity(logs.maxBytesPerPod),
    warnBytesPerContainer: unlessZero(parseQuantity(logs.warnBytesPerContainer) ?? 0),
  };
}

function localStorageOf(storage: ValidSpecNodesLocalStorageEviction): LocalStoragePolicy {
  const { emptyDir = '', pod = '', container = '' } = storage.defaultLimits ?? {};
  const { gracePeriodSeconds: grace } = storage;
  return {
    maxEvictionsPerMinute: storage.maxEvictionsPerMinute,
    warnAtPercent: storage.warnAtPercent.toSorted((a, b) => a - b),
    evictAtPercent: storage.evictAtPercent,
    respectPodDisruptionBudgets: storage.respectPodDisruptionBudgets,
    // With 0 the API server would delete the pod while its containers still run. The kubelet's minimum is 1 too.
    gracePeriodSeconds: grace < 0 ? undefined : Math.max(1, grace),
    // The empty quantity is no limit.
    defaultLimits: {
      emptyDirBytes: parseQuantity(emptyDir),
      podBytes: parseQuantity(pod),
      containerBytes: parseQuantity(container),
    },
  };
}

function nodePressureOf(pressure: ValidSpecNodesNodePressure): NodePressurePolicy {
  return {
    thresholds: amountsOf(pressure.thresholds),
    minimumReclaim: amountsOf(pressure.minimumReclaim),
    gracePeriodMs: durationMs(pressure.gracePeriod),
    transitionPeriodMs: durationMs(pressure.transitionPeriod),
    forecastMs: unlessZero(durationMs(pressure.forecast)),
    evictPods: pressure.evictPods,
  };
}

const amountsOf = (texts: Readonly<Partial<Record<ThresholdSignal, string>>>): SignalThresholds =>
  new Map(
    thresholdSignals.flatMap((signal) => {
      const amount = parseAmount(texts[signal] ?? '');
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );

/** An absent selector selects everything. */
function selectorOf({ matchLabels = {}, matchExpressions = [] }: ValidSpecPodsPodSelector): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  };
}

const holdOf = (above: number, holdFor: string): HoldRule => ({ above, forMs: durationMs(holdFor) });

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);
const unlessNegative = (value: number): number | undefined => (value < 0 ? undefined : value);

type ParsedPolicy =
  | { readonly kind: 'valid'; readonly policy: Policy }
  | { readonly kind: 'invalid'; readonly policy: InvalidPolicy };

/** Parses a stored GCPolicy. A policy that the API server's validation would reject today is invalid. Never throws. */
export function parsePolicy(raw: unknown): ParsedPolicy {
  const object = isObject(raw) ? raw : {};
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const identity = identityOf(metadata);
  const { value, valid, problems } = checkSchema(object['spec'], {
    schema: specSchema,
    validate: validateSpec,
    path: 'spec',
  });
  if (valid !== undefined && identity.name !== '') {
    const skipHoldOf = skippedHold(metadata['annotations']);
    return { kind: 'valid', policy: { ...identity, skipHoldOf, ...policyOfSpec(valid) } };
  }
  const nameless = identity.name === '' ? ['metadata.name: must be given'] : [];
  const isRanked = !problems.some((problem) => /^spec\.(mode|priority): /.test(problem));
  return {
    kind: 'invalid',
    policy: {
      ...identity,
      priority: problems.some(isAboutPriority) ? undefined : priorityOf(value),
      ...selectedBy(isRanked && isObject(value) ? value : { pods: {}, nodes: {} }),
      problems: [...nameless, ...problems],
    },
  };
}

/** What an invalid policy may select: nothing without the block, everything if the selectors are invalid. */
const selectedBy = ({
  pods,
  nodes,
}: Readonly<Record<string, unknown>>): Pick<InvalidPolicy, 'pods' | 'nodes'> => ({
  pods: pods === undefined ? undefined : podsSelectedBy(pods),
  nodes: nodes === undefined ? undefined : nodesSelectedBy(nodes),
});

function podsSelectedBy(pods: unknown): PodSelection {
  const selectors = ['namespaceSelector', 'podSelector'];
  const read = (fields: readonly string[]): ValidSpecPods | undefined =>
    validSpec({ pods: picked(pods, fields) })?.pods;
  // Without its exclusions it selects more.
  return podSelectionOf(read([...selectors, 'excludeNamespaces']) ?? read(selectors) ?? everyPod);
}

const nodesSelectedBy = (nodes: unknown): NodeSelection =>
  nodeSelectionOf(validSpec({ nodes: picked(nodes, ['nodeSelector']) })?.nodes ?? everyNode);

const everyPod = { namespaceSelector: {}, excludeNamespaces: [], podSelector: {} };
const everyNode = { nodeSelector: {} };

const picked = (block: unknown, fields: readonly string[]): object =>
  isObject(block) ? Object.fromEntries(fields.map((name) => [name, block[name]])) : {};

const validSpec = (spec: object): ValidSpec | undefined =>
  checkSchema(spec, { schema: specSchema, validate: validateSpec, path: 'spec' }).valid;

const identityOf = ({
  name,
  uid,
  generation,
}: Readonly<Record<string, unknown>>): Pick<Policy, 'name' | 'uid' | 'generation'> => ({
  name: typeof name === 'string' ? name : '',
  uid: typeof uid === 'string' ? uid : '',
  generation: typeof generation === 'number' ? generation : 0,
});

/** Any other value than a generation ends no hold. */
function skippedHold(annotations: unknown): number | undefined {
  const value = isObject(annotations) ? annotations[SKIP_HOLD_ANNOTATION] : undefined;
  return typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : undefined;
}

const isAboutPriority = (problem: string): boolean => problem.startsWith('spec.priority: ');

function priorityOf(spec: unknown): number | undefined {
  return isObject(spec) && typeof spec['priority'] === 'number' ? spec['priority'] : undefined;
}
