import type { Fields, TextForm } from './fields.ts';
import type {
  ContainerGcPolicy,
  DefaultLimits,
  ImageGcPolicy,
  LocalStoragePolicy,
  LogsPolicy,
  NodesPolicy,
} from './policy.ts';
import { parseSelector } from './selector.ts';

const count = { min: 0, max: 1_000_000 };
const countOrUnlimited = { min: -1, max: 1_000_000 };
const percent = { min: 0, max: 100 };
const percentOfLimit = { min: 1, max: 100 };
/** -1 = the pod's own; else up to a week. */
const gracePeriod = { min: -1, max: 604_800 };
const imageForm: TextForm = { maxLength: 512, pattern: /^[^]/, called: 'a pattern of 1 to 512 characters' };

/** Reads spec.nodes; absent blocks stay off, fields get the defaults of crds/. */
export function parseNodes(fields: Fields): NodesPolicy {
  return {
    nodeSelector: fields.always('nodeSelector', parseSelector),
    imageGC: fields.block('imageGC', parseImageGc),
    containerGC: fields.block('containerGC', parseContainerGc),
    localStorageEviction: fields.block('localStorageEviction', parseLocalStorage),
  };
}

function parseImageGc(fields: Fields): ImageGcPolicy {
  const policy: ImageGcPolicy = {
    highThresholdPercent: fields.integer('highThresholdPercent', 85, percent),
    lowThresholdPercent: fields.integer('lowThresholdPercent', 80, percent),
    minimumAgeMs: fields.durationMs('minimumAge', 120_000),
    maximumAgeMs: unlessZero(fields.durationMs('maximumAge', 0)),
    keep: fields.texts('keep', imageForm, { maxItems: 256, unique: true }),
    kubeletHighThresholdPercent: fields.integer('kubeletHighThresholdPercent', 85, percent),
    maxImagesPerPass: unlessZero(fields.integer('maxImagesPerPass', 0, count)),
    repullBackoff: fields.boolean('repullBackoff', true),
  };
  checkImageGc(fields, policy);
  return policy;
}

function checkImageGc(fields: Fields, policy: ImageGcPolicy): void {
  const { highThresholdPercent: high, lowThresholdPercent: low } = policy;
  if (low >= high)
    fields.problem('lowThresholdPercent', `must be lower than highThresholdPercent (${high}), is ${low}`);
  if (policy.maximumAgeMs !== undefined && policy.maximumAgeMs <= policy.minimumAgeMs) {
    fields.problem('maximumAge', 'must be 0s, or more than minimumAge');
  }
}

function parseContainerGc(fields: Fields): ContainerGcPolicy {
  return {
    minimumAgeMs: fields.durationMs('minimumAge', 0),
    maxPerPodContainer: unlessNegative(fields.integer('maxPerPodContainer', 1, countOrUnlimited)),
    maxContainers: unlessNegative(fields.integer('maxContainers', -1, countOrUnlimited)),
    sandboxes: fields.boolean('sandboxes', true),
    logs: fields.block('logs', parseLogs),
  };
}

function parseLogs(fields: Fields): LogsPolicy {
  return {
    orphanedDirectories: fields.boolean('orphanedDirectories', true),
    brokenLinks: fields.boolean('brokenLinks', true),
    maxRotatedPerContainer: unlessNegative(fields.integer('maxRotatedPerContainer', -1, countOrUnlimited)),
    maxBytesPerPod: fields.bytes('maxBytesPerPod'),
  };
}

function parseLocalStorage(fields: Fields): LocalStoragePolicy {
  return {
    warnAtPercent: parsePercentages(fields, 'warnAtPercent') ?? [80, 95],
    evictAtPercent: fields.integer('evictAtPercent', 100, percentOfLimit),
    respectPodDisruptionBudgets: fields.boolean('respectPodDisruptionBudgets', true),
    gracePeriodSeconds: graceOf(fields.integer('gracePeriodSeconds', -1, gracePeriod)),
    defaultLimits: fields.always('defaultLimits', parseDefaultLimits),
  };
}

function parsePercentages(fields: Fields, name: string): readonly number[] | undefined {
  return fields.integers(name, percentOfLimit, 8)?.toSorted((a, b) => a - b);
}

function parseDefaultLimits(fields: Fields): DefaultLimits {
  return {
    emptyDirBytes: fields.bytes('emptyDir'),
    podBytes: fields.bytes('pod'),
    containerBytes: fields.bytes('container'),
  };
}

const unlessZero = (value: number): number | undefined => (value === 0 ? undefined : value);
/** With 0 the API server would forget the pod while its containers still run; upstream's least is 1 too (upstream.md 4.3). */
const graceOf = (seconds: number): number | undefined => (seconds < 0 ? undefined : Math.max(1, seconds));
const unlessNegative = (value: number): number | undefined => (value < 0 ? undefined : value);
