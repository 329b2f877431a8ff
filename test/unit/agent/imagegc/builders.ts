import type { NodePod } from '../../../../src/api/report/node-pass.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import type { ImageRecord } from '../../../../src/node/disk/state-format.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { everything, minutesAgo, policy } from '../../../builders.ts';

/** The defaults of the CRD. */
export const imageRule = (over: Partial<ImageGcPolicy> = {}): ImageGcPolicy => ({
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAgeMs: 120_000,
  maximumAgeMs: undefined,
  keep: [],
  kubeletHighThresholdPercent: 85,
  maxImagesPerPass: undefined,
  repullBackoff: true,
  ...over,
});

/** A policy with this rule for images governs the node. */
export const governedBy = (
  imageGC: ImageGcPolicy | undefined,
  over: Partial<Policy> = {},
): NodeGovernance => {
  const nodes = {
    nodeSelector: everything,
    imageGC,
    containerGC: undefined,
    localStorageEviction: undefined,
  };
  return { kind: 'governed', policy: { ...policy({ pods: undefined }), nodes, ...over }, nodes };
};

/** A pending pod of this node that names these images. */
export const nodePod = (name: string, images: readonly string[], over: Partial<NodePod> = {}): NodePod => ({
  uid: `uid-${name}`,
  name,
  namespace: 'default',
  phase: 'Pending',
  evicted: false,
  deletionAtMs: undefined,
  configHash: undefined,
  keepMarked: false,
  images,
  ...over,
});

/** Detected a day ago, last used so many minutes ago. */
export const usedMinutesAgo = (minutes: number | undefined): ImageRecord => ({
  firstDetectedMs: minutesAgo(24 * 60),
  lastUsedMs: minutes === undefined ? undefined : minutesAgo(minutes),
});

/** Of 10 000 bytes 1000 are free, which is 90 %: 1000 are wanted. Every image is old and was never used. */
export const facts = (
  listed: readonly RuntimeImage[],
  over: Omit<Partial<ImageGcFacts>, 'images'> & {
    readonly records?: Readonly<Record<string, ImageRecord>>;
  } = {},
): ImageGcFacts => {
  const { records = {}, ...rest } = over;
  const images = new Map(
    listed.map(({ id }) => [id, records[id.replace('sha256:', '')] ?? usedMinutesAgo(undefined)]),
  );
  return {
    listed,
    containers: [],
    pods: [],
    disk: { capacityBytes: 10_000, availableBytes: 1000 },
    images,
    removed: [],
    ...rest,
  };
};

/** Names of what goes, in order, and why each of the others stays. */
export const told = (
  plan: ImageGcPlan,
): { readonly goes: readonly string[]; readonly stays: Record<string, string> } => ({
  goes: plan.removals.map(({ target: { image }, reason }) => `${nameOf(image)} ${reason}`),
  stays: Object.fromEntries(plan.kept.map(({ target: { image }, reason }) => [nameOf(image), reason])),
});

export const nameOf = ({ id }: { readonly id: string }): string => id.replace('sha256:', '');
