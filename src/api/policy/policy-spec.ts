import {
  decodeSpec,
  specSchema,
  validateSpec,
  type Spec,
  type SpecNodes,
  type SpecNodesCheckpoints,
  type SpecNodesContainerGC,
  type SpecNodesImageGC,
  type SpecNodesLocalStorageEviction,
  type SpecNodesNodePressure,
  type SpecPods,
  type SpecPodsPodSelector,
  type SpecPodsTerminated,
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
  CheckpointsPolicy,
  ContainerGcPolicy,
  ImageGcPolicy,
  InvalidPolicy,
  LabelSelector,
  LocalStoragePolicy,
  NodePressurePolicy,
  NodeSelection,
  NodesPolicy,
  PodSelection,
  PodsPolicy,
  Policy,
  TerminatedPolicy,
} from './policy.ts';

/** The policy of a decoded spec: absent blocks are off, and so are limits with the value for it. */
function policyOfSpec(spec: Spec): Pick<Policy, 'mode' | 'priority' | 'pods' | 'nodes'> {
  return {
    mode: spec.mode,
    priority: spec.priority,
    pods: spec.pods && podsOf(spec.pods),
    nodes: spec.nodes && nodesOf(spec.nodes, spec.pods?.excludeNamespaces),
  };
}

function podsOf(pods: SpecPods): PodsPolicy {
  const { holdAbove, holdForMs, ...safety } = pods.safety;
  return {
    ...podSelectionOf(pods),
    terminated: pods.terminated && terminatedOf(pods.terminated),
    orphaned: pods.orphaned,
    unscheduledTerminating: pods.unscheduledTerminating !== undefined,
    outOfService: pods.outOfService !== undefined,
    safety,
    hold: { above: holdAbove, forMs: holdForMs },
  };
}

const podSelectionOf = ({
  namespaceSelector,
  excludeNamespaces,
  podSelector,
}: Pick<SpecPods, keyof PodSelection>): PodSelection => ({
  namespaceSelector: selectorOf(namespaceSelector),
  excludeNamespaces: new Set(excludeNamespaces),
  podSelector: selectorOf(podSelector),
});

function terminatedOf({
  perNamespaceThreshold = 0,
  ttlByReason = [],
  keepPerOwnerByPhase = { succeeded: 0, failed: 0 },
  ...terminated
}: SpecPodsTerminated): TerminatedPolicy {
  return {
    ...terminated,
    perNamespaceThreshold: perNamespaceThreshold > 0 ? perNamespaceThreshold : undefined,
    keepPerOwnerByPhase,
    ttlByReason: ttlByReason.map(({ messagePattern, ...rule }) => ({
      ...rule,
      // The empty pattern matches everything.
      messagePattern: messagePattern === '' ? undefined : messagePattern,
    })),
  };
}

function nodesOf(nodes: SpecNodes, excludedByPods: readonly string[] = []): NodesPolicy {
  return {
    ...nodeSelectionOf(nodes),
    excludeNamespaces: new Set([...nodes.excludeNamespaces, ...excludedByPods]),
    respectDoNotDisrupt: nodes.respectDoNotDisrupt,
    imageGC: nodes.imageGC && imageGcOf(nodes.imageGC),
    containerGC: nodes.containerGC && containerGcOf(nodes.containerGC),
    orphans: nodes.orphans,
    checkpoints: nodes.checkpoints && checkpointsOf(nodes.checkpoints),
    leftovers: nodes.leftovers,
    localStorageEviction: nodes.localStorageEviction && localStorageOf(nodes.localStorageEviction),
    nodePressure: nodes.nodePressure && nodePressureOf(nodes.nodePressure),
    namespaceBudgets: nodes.namespaceBudgets.map(({ namespaceSelector, ...budget }) => ({
      ...budget,
      namespaceSelector: selectorOf(namespaceSelector),
    })),
  };
}

const nodeSelectionOf = ({ nodeSelector }: Pick<SpecNodes, keyof NodeSelection>): NodeSelection => ({
  nodeSelector: selectorOf(nodeSelector),
});

const imageGcOf = ({ holdAbove, holdForMs, ...images }: SpecNodesImageGC): ImageGcPolicy => ({
  ...images,
  maximumAgeByImage: images.maximumAgeByImage.map(({ image, maximumAgeMs }) => ({
    image,
    maximumAgeMs: unlessZero(maximumAgeMs),
  })),
  maximumAgeMs: unlessZero(images.maximumAgeMs),
  maxImagesPerPass: unlessZero(images.maxImagesPerPass),
  hold: { above: holdAbove, forMs: holdForMs },
});

const containerGcOf = ({ logs, ...containers }: SpecNodesContainerGC): ContainerGcPolicy => ({
  ...containers,
  maxPerPodContainer: unlessNegative(containers.maxPerPodContainer),
  maxContainers: unlessNegative(containers.maxContainers),
  logs: logs && {
    ...logs,
    maxRotatedPerContainer: unlessNegative(logs.maxRotatedPerContainer),
    warnBytesPerContainer: unlessZero(logs.warnBytesPerContainer ?? 0),
  },
});

const checkpointsOf = (checkpoints: SpecNodesCheckpoints): CheckpointsPolicy => ({
  ...checkpoints,
  maxPerPod: unlessNegative(checkpoints.maxPerPod),
  maxAgeMs: unlessZero(checkpoints.maxAgeMs),
});

const noLimits = { emptyDirBytes: undefined, podBytes: undefined, containerBytes: undefined };

const localStorageOf = (storage: SpecNodesLocalStorageEviction): LocalStoragePolicy => ({
  ...storage,
  warnAtPercent: storage.warnAtPercent.toSorted((a, b) => a - b),
  // With 0 the API server would delete the pod while its containers still run. The kubelet's minimum is 1 too.
  gracePeriodSeconds: storage.gracePeriodSeconds < 0 ? undefined : Math.max(1, storage.gracePeriodSeconds),
  defaultLimits: storage.defaultLimits ?? noLimits,
});

const nodePressureOf = (pressure: SpecNodesNodePressure): NodePressurePolicy => ({
  ...pressure,
  thresholds: amountsOf(pressure.thresholds),
  minimumReclaim: amountsOf(pressure.minimumReclaim),
  forecastMs: unlessZero(pressure.forecastMs),
});

const amountsOf = (texts: Readonly<Partial<Record<ThresholdSignal, string | undefined>>>): SignalThresholds =>
  new Map(
    thresholdSignals.flatMap((signal) => {
      const amount = parseAmount(texts[signal] ?? '');
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );

/** An absent selector selects everything. */
function selectorOf({ matchLabels = {}, matchExpressions = [] }: SpecPodsPodSelector): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  };
}

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);
const unlessNegative = (value: number): number | undefined => (value < 0 ? undefined : value);

/** Parses a stored GCPolicy. A policy that the API server's validation would reject today is invalid. Never throws. */
export function parsePolicy(raw: unknown): Policy | InvalidPolicy {
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
    return { ...identity, rulesId: '', skipHoldOf, ...policyOfSpec(decodeSpec(valid)) };
  }
  const nameless = identity.name === '' ? ['metadata.name: must be given'] : [];
  const isRanked = !problems.some((problem) => /^spec\.(mode|priority): /.test(problem));
  return {
    ...identity,
    priority: problems.some(isAboutPriority) ? undefined : priorityOf(value),
    ...selectedBy(isRanked && isObject(value) ? value : { pods: {}, nodes: {} }),
    problems: [...nameless, ...problems],
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
  const read = (fields: readonly string[]): SpecPods | undefined =>
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

function validSpec(spec: object): Spec | undefined {
  const { valid } = checkSchema(spec, { schema: specSchema, validate: validateSpec, path: 'spec' });
  return valid && decodeSpec(valid);
}

const identityOf = ({
  name,
  uid,
  generation,
}: Readonly<Record<string, unknown>>): Pick<Policy, 'name' | 'uid' | 'generation'> => ({
  name: typeof name === 'string' ? name : '',
  uid: typeof uid === 'string' ? uid : '',
  generation: typeof generation === 'number' ? generation : 0,
});

/** Any other value than the id of the rules ends no hold; a message about the hold names it. The empty text is no value. */
function skippedHold(annotations: unknown): string | undefined {
  const value = isObject(annotations) ? annotations[SKIP_HOLD_ANNOTATION] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const isAboutPriority = (problem: string): boolean => problem.startsWith('spec.priority: ');

function priorityOf(spec: unknown): number | undefined {
  return isObject(spec) && typeof spec['priority'] === 'number' ? spec['priority'] : undefined;
}
