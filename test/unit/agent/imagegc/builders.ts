import type { NodePod } from '../../../../src/api/node-pod.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { ImageGcFacts, ImageGcPlan, PinState } from '../../../../src/agent/imagegc/facts.ts';
import type { ImageRecord } from '../../../../src/node/disk/state-format.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { defaultsOf, minutesAgo, noHold, now } from '../../../builders.ts';
import { governedNode } from '../builders.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';

/** The defaults of the CRD, without a hold. */
export const imageRule = (over: Partial<ImageGcPolicy> = {}): ImageGcPolicy => ({
  ...defaultsOf('imageGC'),
  hold: noHold,
  ...over,
});

/** Nothing is to be pinned, and the runtime has no pins. */
export const noPins: PinState = { bound: 0, unbound: [], own: undefined };

/** A policy with this rule governs the node; undefined = it has no rule for images. */
export const governedBy = (imageGC: ImageGcPolicy | undefined, over: Partial<Policy> = {}): NodeGovernance =>
  governedNode({ imageGC }, over);

/** A pending pod of this node with these images. */
export const nodePod = (name: string, images: readonly string[], over: Partial<NodePod> = {}): NodePod => ({
  uid: `uid-${name}`,
  name,
  namespace: 'default',
  phase: 'Pending',
  evicted: false,
  deletionAtMs: undefined,
  configHash: undefined,
  isOptedOut: false,
  images,
  ...over,
});

/** An image detected a day ago and last used so many minutes ago. */
export const usedMinutesAgo = (minutes: number | undefined): ImageRecord => ({
  firstDetectedMs: minutesAgo(24 * 60),
  lastUsedMs: minutes === undefined ? undefined : minutesAgo(minutes),
});

/** A disk of 10 000 bytes of which 1000 are free: 90 % are used, 1000 bytes are wanted. Every image is old and was never used. */
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

export const planOf = (given: ImageGcFacts, rule: Partial<ImageGcPolicy> = {}): ImageGcPlan =>
  planImageGc(given, { governance: governedBy(imageRule(rule)), now });

/** The removed images in order, each with its reason, and the reason of each kept image. */
export const verdicts = (
  plan: ImageGcPlan,
): { readonly removed: readonly string[]; readonly kept: Record<string, string> } => ({
  removed: plan.removals.map(({ target, reason }) => `${nameOf(target)} ${reason}`),
  kept: Object.fromEntries(plan.kept.map(({ target, reason }) => [nameOf(target), reason])),
});

export const nameOf = ({ id }: { readonly id: string }): string => id.replace('sha256:', '');
