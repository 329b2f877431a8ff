import type { ImageSpace, OtherBytes } from '../../api/image-space.ts';
import type {
  NodeGCReportStatusImages,
  NodeGCReportStatusImagesPull,
  NodeGCReportStatusImagesUnmatched,
  NodeGCReportStatusLargestOffender,
} from '../../api/gen/nodegcreport.gen.ts';
import type { NodePod } from '../../api/node-pod.ts';
import type { HeldImages } from '../../gc/hold.ts';
import type { ImageDisk, DiskSpace } from '../../node/disk/filesystem.ts';
import { isDiskSignal, type DiskSignal } from '../../api/node-pressure.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { WantedImages } from '../../api/wanted-images.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { ImageGcPolicy, InvalidPolicy, Policy, RemoveEntry } from '../../api/policy/policy.ts';
import type { ImageKeepReason, ImageRemoveReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { Decision, ImageTarget } from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { AgentState, ImageRecord } from '../../node/disk/state-format.ts';
import type { DiskDemand, ReclaimResult } from '../nodepressure/facts.ts';

/** Input of a plan. undefined = unknown: an image that could depend on it is kept. */
export interface ImageGcFacts extends AgentState {
  /** By the reference that pods wait for. */
  readonly attempts?: ReadonlyMap<string, PullAttempts> | undefined;
  readonly listed: readonly RuntimeImage[];
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly pods: readonly NodePod[] | undefined;
  readonly disk: DiskSpace | undefined;
  /** Ids or references of the images that containers have mounted, besides the images they were created from. */
  readonly mounted?: readonly string[];
  /** Reference of the image that the runtime creates sandboxes from; undefined = unknown. */
  readonly sandboxImage?: string | undefined;
  /** The wall clock jumped since the last pass: ages are unknown. */
  readonly clockUnsure?: boolean;
  /** Which bytes the images share; undefined = unknown: each image counts with the size that the runtime reports. */
  readonly space?: ImageSpace | undefined;
  /** The images that workloads want on the node; undefined = they were not read. Only nodes.imageGC.pinWanted needs them. */
  readonly wanted?: WantedImages | undefined;
  /** Images whose removal has failed, by id. */
  readonly failedBefore?: ReadonlyMap<string, FailedBefore>;
}

export interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Amounts to free for node pressure, besides what the thresholds of the rule require. */
  readonly demands?: readonly DiskDemand[];
}

/** What uses an image, and what else protects it at any disk usage; undefined or false = the fact does not apply. */
export interface ImageUses {
  /** Id of a container created from it, or `a mount`. */
  readonly usedBy: string | undefined;
  /** `namespace/name` of a pod bound to the node, and the image reference in its spec; undefined = the pod has more images than dustpan reads. */
  readonly boundPod: { readonly pod: string; readonly image: string | undefined } | undefined;
  /** Others than dustpan have pinned it, or it is the sandbox image. */
  readonly pinned: boolean;
  /** The policy for which dustpan alone has pinned it in the runtime. */
  readonly pinnedFor: string | undefined;
  /** Whether the runtime reports that it creates sandboxes from it. */
  readonly isSandbox: boolean;
  /** Whether it would count as the sandbox image by its name alone: the runtime does not report which image that is. */
  readonly isCalledSandbox: boolean;
  /** Pattern of the policy's keep list that matches it. */
  readonly keepPattern: string | undefined;
  /** A workload wants it (nodes.imageGC.pinWanted); `workload` undefined = one may: dustpan has pinned it, and not all wanted images are known. */
  readonly wanted: { readonly workload: string | undefined } | undefined;
  /** A name of it that no pattern of nodes.imageGC.only matches. */
  readonly notSelected: string | undefined;
}

/** The first entry of nodes.imageGC.remove that has not ended and matches a name of an image. */
export interface RemoveRequest extends RemoveEntry {
  readonly index: number;
  /** Another name of the image that no such entry matches: then the entries do not remove it. */
  readonly unmatched: string | undefined;
}

/** The entry of nodes.imageGC.maximumAgeByImage that sets the maximum age of an image. */
interface AgeEntry {
  readonly index: number;
  readonly pattern: string;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
}

/** An image with the facts that decide about it. */
export interface JudgedImage extends ImageTarget, ImageUses {
  /** Listed entries with the same id are merged. */
  readonly image: RuntimeImage;
  /** On the disk, with what it shares; if that is unknown, the size that the runtime reports. */
  readonly bytes: number;
  readonly record: ImageRecord;
  /** Why a pin or the policy protects it, whether or not anything uses it; undefined = neither does. */
  readonly protectedBy: KeptBecause | undefined;
  /** The policy's; doubled if the image was pulled again within 24 h of its removal. */
  readonly minimumAgeMs: number;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
  /** The entry of maximumAgeByImage that sets it; undefined = maximumAge does. */
  readonly ageEntry: AgeEntry | undefined;
  readonly requested: RemoveRequest | undefined;
}

interface ImageUser {
  readonly name: string;
  readonly pod: PodRef;
  readonly state: string;
  /** False: the runtime does not report which image the container uses, and this one has no digest. */
  readonly isSure: boolean;
}

/** Why an image is kept, with what neither the image nor the plan shows. */
export type KeptBecause =
  /** undefined = a container has only mounted the image. */
  | { readonly reason: 'InUse'; readonly user: ImageUser | undefined }
  /** `times`: in a row. */
  | { readonly reason: 'RemovalFailed'; readonly times: number }
  /** `container`: its image is not known; undefined = the containers are not. */
  | { readonly reason: 'ContainersUnknown'; readonly container: RuntimeContainer | undefined }
  | { readonly reason: Exclude<ImageKeepReason, 'InUse' | 'RemovalFailed' | 'ContainersUnknown'> };

/** The attempts of a pull that the agent has seen since it started. */
export interface PullAttempts {
  readonly count: number;
  /** IDs of the leases that were counted last. */
  readonly leaseIds: readonly string[];
}

/** An image that pods of the node wait for, and that the node does not have. Bytes: undefined = not known. */
export interface PendingPull {
  /** As in the spec of the first pod. */
  readonly image: string;
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** Why the container of the first pod waits; '' = the kubelet has not reported yet. */
  readonly reason: string;
  /** Packed layers that no other image has. */
  readonly totalBytes: number | undefined;
  /** Of these, what is on the disk; undefined = no pull is in progress. */
  readonly receivedBytes: number | undefined;
  /** What it still takes, packed and unpacked. */
  readonly neededBytes: number | undefined;
  /** A lower bound. */
  readonly attempts: number | undefined;
}

export interface FittedPull extends PendingPull {
  readonly fit: NodeGCReportStatusImagesPull['fit'];
  /** What is free for it; undefined = not known. */
  readonly availableBytes: number | undefined;
}

interface ImageDecided extends Decision {
  readonly target: JudgedImage;
}

export type ImageRemoval = ImageDecided & { readonly verdict: 'Remove'; readonly reason: ImageRemoveReason };
export type KeptImage = ImageDecided & { readonly verdict: 'Keep' } & KeptBecause;
export type ImageDecision = ImageRemoval | KeptImage;

/** `bytes`: what its removal frees after those before it. */
export const remove = (
  target: JudgedImage,
  bytes: number,
  reason: ImageRemoveReason,
  policy: Policy,
): ImageRemoval => ({
  unit: isDiskSignal(reason) ? 'nodepressure' : 'imagegc',
  verdict: 'Remove',
  target,
  reason,
  policy,
  eligibleAt: undefined,
  bytes,
});

/** `eligibleAtMs`: Unix milliseconds; set if the image only waits for time to pass. */
export const keep = (
  target: JudgedImage,
  why: KeptBecause & { readonly eligibleAtMs?: number | undefined },
  policy: Policy | InvalidPolicy | undefined,
): KeptImage => {
  const { eligibleAtMs, ...kept } = why;
  return {
    unit: 'imagegc',
    verdict: 'Keep',
    target,
    policy,
    eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
    bytes: target.bytes,
    ...kept,
  };
};

/** The signal of node pressure that the goal is for; undefined = it is for another reason. */
export const signalOf = ({ reason }: Pick<Goal, 'reason'>): DiskSignal | undefined =>
  reason === 'Space' || reason === 'PullHeadroom' ? undefined : reason;

export const isDueAnyway = (reason: ImageDecision['reason']): boolean =>
  reason === 'RemoveListed' || reason === 'Age';

export const bytesOf = (decisions: readonly ImageDecision[]): number =>
  decisions.reduce((sum, { bytes = 0 }) => sum + bytes, 0);

/** Unit in which a file system can be full. */
export type SpaceUnit = 'bytes' | 'inodes';

/** An amount that removals have to free, after those by age, and for what: the space step, pulls, or node pressure. */
export interface Goal {
  readonly reason: 'Space' | 'PullHeadroom' | DiskSignal;
  readonly unit: SpaceUnit;
  readonly wanted: number;
  /** The threshold of the signal; '' = no signal. */
  readonly threshold: string;
}

export interface SelectedImages {
  /** Removed in this pass, in a later one, or after the hold. */
  readonly due: number;
  /** Images that nothing but the disk usage, their age or a limit keeps. */
  readonly unused: number;
  /** Set while a large removal by new rules waits: then no image is removed. */
  readonly holdLeftMs: number | undefined;
}

export interface ImageGcPlan {
  /** undefined = no rule applies. */
  readonly rule: ImageGcPolicy | undefined;
  /** As in the facts. */
  readonly space: ImageSpace | undefined;
  /** Why other images may be wanted too, without a full stop; undefined = none is, or the rule has no pinWanted. */
  readonly wantedUnknown: string | undefined;
  /** The space step: Idle = not needed or off, Free = the removals free enough, Short = they do not, Unknown = cannot be decided. */
  readonly state: 'Idle' | 'Free' | 'Short' | 'Unknown';
  /** Crossed thresholds for which the space step removes images. */
  readonly crossed: readonly SpaceUnit[];
  /** Those of the space step first; removals continue until all are met. */
  readonly goals: readonly Goal[];
  /** What the planned removals leave of each demand of node pressure. */
  readonly reclaim: ReadonlyMap<DiskSignal, ReclaimResult>;
  /** Whether the disk reports values, possible ones or not. */
  readonly isMeasured: boolean;
  /** undefined = the disk is unknown or reports no capacity. */
  readonly usedPercent: number | undefined;
  /** undefined = the disk is unknown or reports no inodes. */
  readonly usedInodesPercent: number | undefined;
  /** The policy has thresholds for inodes, and the file system reports none. */
  readonly isUncounted: boolean;
  /** Bytes that the space step has to free, after the removals by age. */
  readonly wantedBytes: number;
  /** Bytes that the space step frees by the plan. */
  readonly plannedBytes: number;
  /** The same in inodes; estimated after the removals by age. */
  readonly wantedInodes: number;
  /** An estimate: the runtime reports no inodes per image. */
  readonly plannedInodes: number;
  /** Estimated inodes of images of these bytes. */
  readonly inodesOf: (bytes: number) => number;
  /** The images that pods wait for, in the order in which they are compared with the free space. */
  readonly pulls: readonly FittedPull[];
  /** The images that the rules select; undefined = no rule applies. */
  readonly selected?: SelectedImages | undefined;
  /** Most images that the pass may remove. */
  readonly maxImages: number;
  /** Every removable image in the order of execution: those on the remove list, by age, then for space. */
  readonly candidates: readonly ImageRemoval[];
  /** The candidates that the pass removes if no removal fails, in the same order. */
  readonly removals: readonly ImageRemoval[];
  /** Every image that is not among the removals. */
  readonly kept: readonly KeptImage[];
}

export interface CountAndBytes {
  readonly count: number;
  readonly bytes: number;
}

/** Packed copies of images: downloaded layers, manifests and configurations. */
export interface PackedBytes {
  readonly total: number;
  readonly inUse: number;
  readonly collectable: number;
}

/** Why the kubelet may remove an image that the policy keeps, the worst first. Off: the policy is in mode DryRun, or maxPinnedPercent is 0. */
export const unpinnedReasons = [
  'Limit',
  'DiskUnknown',
  'NotRead',
  'NotContainerd',
  'NotManaged',
  'NotShown',
  'Off',
  'NotYet',
] as const;

export type UnpinnedReason = (typeof unpinnedReasons)[number];

/** The images that are to be pinned in the runtime, so that the kubelet keeps them too: those that the policy keeps or workloads want, and the sandbox image. */
export interface PinState {
  /** Those, without the sandbox image, that the runtime shows as pinned, by whomever. */
  readonly bound: number;
  /** The others by the reason, the worst first. */
  readonly unbound: readonly (CountAndBytes & { readonly reason: UnpinnedReason })[];
  /** The images that dustpan has pinned; undefined = the runtime is not containerd, or it could not be read. */
  readonly own: CountAndBytes | undefined;
}

/** The images in the last pass of imagegc. */
export interface ImageInventory {
  readonly total: CountAndBytes;
  readonly inUse: CountAndBytes;
  readonly pinned: CountAndBytes;
  readonly pins: PinState;
  /** As in the plan. */
  readonly wantedUnknown?: string | undefined;
  readonly kept: CountAndBytes;
  readonly removable: CountAndBytes;
  /** Images that nothing uses or protects. */
  readonly collectable: CountAndBytes;
  /** Largest first, at most 64. */
  readonly listed: readonly ListedImage[];
  /** Those that are not listed; undefined = none. */
  readonly unlisted?: CountAndBytes | undefined;
  /** The packed copies, which are part of these bytes. Unsupported, unknown: bytes are the sizes that the runtime reports; it has no others, or they could not be read. */
  readonly packed: PackedBytes | 'unsupported' | 'unknown';
  readonly others?: OtherBytes | undefined;
  /** undefined = no pod waits for an image. */
  readonly pulls?: NodeGCReportStatusImages['pulls'];
  readonly disk: ImageDisk | undefined;
  /** The large removal by new rules that waits; undefined = none. */
  readonly held?: HeldImages | undefined;
  /** The entries of nodes.imageGC.remove that have not ended; undefined = none. */
  readonly removeList?: NodeGCReportStatusImages['removeList'];
  /** undefined = no rule applies. */
  readonly unmatched?:
    (NodeGCReportStatusImagesUnmatched & { readonly policy: Pick<Policy, 'uid' | 'generation'> }) | undefined;
  /** Largest first, at most ten. */
  readonly offenders: readonly NodeGCReportStatusLargestOffender[];
}

export interface ListedImage {
  readonly id: string;
  /** A tag, else a digest; undefined = it has none. */
  readonly name: string | undefined;
  readonly bytes: number;
  /** These three: undefined = not known. */
  readonly uniqueBytes?: number | undefined;
  readonly packedBytes?: number | undefined;
  readonly inexactBecause?: string | undefined;
  readonly inUse: boolean;
  /** A pin or the policy protects it. */
  readonly isKept: boolean;
  /** When it was last used; if never, when it was first seen; undefined = it is in use. */
  readonly unusedSince: string | undefined;
}
