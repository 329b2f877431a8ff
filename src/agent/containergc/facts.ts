import type { NodePod } from '../../api/node-pass.ts';
import type { ContainerGcPolicy } from '../../api/policy.ts';
import type { ContainerKeepReason, ContainerRemoveReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { LogListing } from '../../node/logs.ts';
import type { Jump } from '../../runtime/jump.ts';

/** Everything a plan is made from. What is undefined was not observed: nothing is decided from it. */
export interface ContainerGcFacts {
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The pods of this node; to be read after the runtime was listed, or a pod that is just being started would look gone. */
  readonly pods: readonly KnownPod[] | undefined;
  readonly logs: LogListing | undefined;
  /** This observation's included (`observeGone`). */
  readonly sightings: Sightings;
  /** The wall clock jumped since the last pass: ages cannot be told. */
  readonly clockUnsure?: boolean;
  /** Jumps forward, oldest first: what is older than one looks older than it is. */
  readonly jumps?: readonly Jump[];
}

export type KnownPod = Pick<NodePod, 'uid' | 'configHash'> &
  Partial<Pick<NodePod, 'keepMarked' | 'phase' | 'evicted' | 'deletionAtMs'>>;

/** How many passes in a row each pod UID looked gone. */
export type Sightings = ReadonlyMap<string, number>;

export interface Given {
  readonly policy: ContainerGcPolicy;
  readonly now: Date;
  /** Counts a pod that looks gone as seen so for two passes. */
  readonly assumeGone?: boolean;
  /** Until the next pass; default one minute, as upstream. */
  readonly periodMs?: number;
}

/** A pod as its remains name it. */
export interface PodRef {
  readonly uid: string;
  /** undefined: a log directory of the old form tells only the UID. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

export interface ContainerObject {
  readonly kind: 'container';
  readonly container: RuntimeContainer;
}

export interface SandboxObject {
  readonly kind: 'sandbox';
  readonly sandbox: RuntimeSandbox;
}

export interface LogDirectoryObject {
  readonly kind: 'logDirectory';
  readonly path: string;
  /** undefined = its name is none that the kubelet gives. */
  readonly pod: PodRef | undefined;
  /** Paths of the links that lead into it: they go with it. */
  readonly links: readonly string[];
}

export interface LogLinkObject {
  readonly kind: 'logLink';
  readonly path: string;
}

export interface LogFileObject {
  readonly kind: 'logFile';
  readonly path: string;
}

export type ContainerGcObject =
  ContainerObject | SandboxObject | LogDirectoryObject | LogLinkObject | LogFileObject;

export interface Removal<T extends ContainerGcObject = ContainerGcObject> {
  readonly verdict: 'Remove';
  readonly object: T;
  readonly reason: ContainerRemoveReason;
  /** undefined = not known. */
  readonly bytes: number | undefined;
  /** What the plan counted on and a later look has to find again. */
  readonly because: Because;
}

/** `podGone`: its pod is gone. `superseded`: a newer one of the same pod (and container name) stays. `limit`: a limit demands it, whatever else is there. */
type Because = 'podGone' | 'superseded' | 'limit';

export interface Kept<T extends ContainerGcObject = ContainerGcObject> {
  readonly verdict: 'Keep';
  readonly object: T;
  readonly reason: ContainerKeepReason;
  readonly bytes: number | undefined;
  /** When time alone may change the verdict. */
  readonly eligibleAt: Date | undefined;
}

export type Decision<T extends ContainerGcObject = ContainerGcObject> = Removal<T> | Kept<T>;

/** Every object has one decision, but for live logs, links into a removed directory, and rotated logs of a removed container. */
export interface ContainerGcPlan {
  /** In the order of execution. */
  readonly removals: readonly Removal[];
  readonly kept: readonly Kept[];
}

interface RemoveOptions {
  readonly because?: Because;
  readonly bytes?: number | undefined;
}

export const remove = <T extends ContainerGcObject>(
  object: T,
  reason: ContainerRemoveReason,
  { because = 'limit', bytes }: RemoveOptions = {},
): Removal<T> => ({ verdict: 'Remove', object, reason, bytes, because });

interface KeepOptions {
  readonly eligibleAt?: Date | undefined;
  readonly bytes?: number | undefined;
}

export const keep = <T extends ContainerGcObject>(
  object: T,
  reason: ContainerKeepReason,
  { eligibleAt, bytes }: KeepOptions = {},
): Kept<T> => ({ verdict: 'Keep', object, reason, bytes, eligibleAt });

export const isRemoval = <T extends ContainerGcObject>(decision: Decision<T>): decision is Removal<T> =>
  decision.verdict === 'Remove';

/** What passes are apart when nobody says so (upstream.md 3.1). */
export const defaultPeriodMs = 60_000;

/** When the next pass looks again. */
export const nextPass = ({ now, periodMs = defaultPeriodMs }: Given): Date =>
  new Date(now.getTime() + periodMs);
