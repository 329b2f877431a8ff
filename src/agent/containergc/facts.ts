import type { NodePod } from '../../api/report/node-pass.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { ContainerGcPolicy, Policy } from '../../api/policy/policy.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { LogListing } from '../../node/logs/list.ts';
import type { Jump } from '../../runtime/scheduling/jump.ts';

/** Everything a plan is made from. What is undefined was not observed: nothing is decided from it. */
export interface ContainerGcFacts {
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The pods of this node; to be read after the runtime was listed, or a pod that is just being started would look gone. */
  readonly pods: readonly KnownPod[] | undefined;
  readonly logs: LogListing | undefined;
  /** This observation's included (`observeGone`). */
  readonly sightings: Sightings;
  /** The wall clock jumped since the last pass: ages are not known. */
  readonly clockUnsure?: boolean;
  /** Jumps forward, oldest first: what is older than one looks older than it is. */
  readonly jumps?: readonly Jump[];
}

export type KnownPod = Pick<NodePod, 'uid' | 'configHash'> &
  Partial<Pick<NodePod, 'keepMarked' | 'phase' | 'evicted' | 'deletionAtMs'>>;

/** How many passes in a row each pod UID looked gone. */
export type Sightings = ReadonlyMap<string, number>;

export interface Given {
  /** What governs the node. */
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Counts a pod that looks gone as seen so for two passes. */
  readonly assumeGone?: boolean;
  /** Until the next pass; default one minute, as the kubelet's (`ContainerGCPeriod`, pkg/kubelet/kubelet.go). */
  readonly periodMs?: number;
}

/** What the policy of the node adds to what is given. */
export interface Ruled extends Omit<Given, 'governance'> {
  readonly policy: Policy;
  readonly rule: ContainerGcPolicy;
}

export const defaultPeriodMs = 60_000;

/** When the next pass runs. */
export const nextPass = ({ now, periodMs = defaultPeriodMs }: Pick<Given, 'now' | 'periodMs'>): Date =>
  new Date(now.getTime() + periodMs);
