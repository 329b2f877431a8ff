import type { ImageDisk, NodePod } from '../../api/report/node-pass.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { ImageRemoveReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeImage } from '../../cri/runtime.ts';
import type { Decision, ImageTarget } from '../../gc/decision.ts';
import type { ImageEvidence, ImageReason } from '../../gc/reasons/images.ts';
import type { AgentState, ImageRecord } from '../../node/disk/state-format.ts';

/** What a plan is made from. undefined = not known: then nothing is decided from it, and everything stays that could depend on it. */
export interface ImageGcFacts extends AgentState {
  /** As listed, from `observeImages` or older. */
  readonly listed: readonly RuntimeImage[];
  readonly containers: readonly RuntimeContainer[] | undefined;
  /** The pods bound to the node. */
  readonly pods: readonly NodePod[] | undefined;
  readonly disk: Pick<ImageDisk, 'capacityBytes' | 'availableBytes'> | undefined;
  /** Ids or references that containers have mounted, besides the images they were made from. */
  readonly mounted?: readonly string[];
  /** The reference of the image that the runtime makes sandboxes from; undefined = not known. */
  readonly sandboxImage?: string | undefined;
  /** The wall clock jumped since the last pass: ages cannot be told. */
  readonly clockUnsure?: boolean;
}

export interface Given {
  /** What governs the node. */
  readonly governance: NodeGovernance;
  readonly now: Date;
}

/** All that keeps an image whatever the disk says; undefined and false = does not. An image may be held by several. */
export interface ImageHolds {
  /** The id of a container made from it, or what else mounts it. */
  readonly usedBy: string | undefined;
  /** `namespace/name` of a pod bound to the node whose spec names it, and the name it has there; undefined = the pod has more images than are read. */
  readonly boundPod: { readonly pod: string; readonly image: string | undefined } | undefined;
  readonly pinned: boolean;
  /** The pattern of the policy's keep list that names it. */
  readonly keepPattern: string | undefined;
}

/** An image with all that its verdict rests on. */
export interface JudgedImage extends ImageTarget {
  /** Entries with the same id are one. */
  readonly image: RuntimeImage;
  readonly record: ImageRecord;
  readonly holds: ImageHolds;
  /** The policy's, doubled when the image came back within 24 h of its removal. */
  readonly minimumAgeMs: number;
}

export type ImageDecision<R extends ImageReason = ImageReason> = Decision<JudgedImage, R, ImageEvidence[R]>;
export type ImageRemoval = ImageDecision<ImageRemoveReason>;

/** The space step: Idle = not needed or off, Free = what goes is enough, Short = it is not, Unknown = cannot be decided. */
type ImageGcState = 'Idle' | 'Free' | 'Short' | 'Unknown';

export interface ImageGcPlan {
  readonly state: ImageGcState;
  /** undefined while the disk is unknown or claims to have no capacity. */
  readonly usedPercent: number | undefined;
  /** For the space step, after what goes by age. */
  readonly wantedBytes: number;
  /** Of the space step alone, as the runtime counts them. */
  readonly plannedBytes: number;
  /** How many images the pass may remove. */
  readonly maxImages: number;
  /** Every image that may go, in the order of execution: by age, then for space. */
  readonly candidates: readonly ImageRemoval[];
  /** What goes when no removal fails: these of the candidates, in the same order. */
  readonly removals: readonly ImageRemoval[];
  /** Every image that is not among the removals. */
  readonly kept: readonly ImageDecision[];
}
