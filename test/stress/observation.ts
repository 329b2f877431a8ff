/** A termination of a container as the API server knows it. */
interface Termination {
  readonly container: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly containerId: string;
}

export interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  readonly isBound: boolean;
  readonly isDeleting: boolean;
  readonly images: readonly string[];
  readonly terminations: readonly Termination[];
  /** Reasons why containers wait. */
  readonly waiting: readonly string[];
  /** Unix milliseconds; undefined = no container has finished. */
  readonly finishedAtMs: number | undefined;
}

export interface SeenContainer {
  readonly id: string;
  readonly pod: string;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  readonly isRunning: boolean;
}

export interface SeenSandbox {
  readonly id: string;
  readonly podUid: string;
  readonly isReady: boolean;
}

export interface SeenImage {
  readonly id: string;
  readonly tags: readonly string[];
}

/** One look at the node. A list that could not be read is undefined. The pods are read last. */
export interface Observation {
  readonly atMs: number;
  readonly images: readonly SeenImage[] | undefined;
  readonly containers: readonly SeenContainer[] | undefined;
  readonly pods: readonly SeenPod[] | undefined;
}

export const isOver = ({ phase }: Pick<SeenPod, 'phase'>): boolean =>
  phase === 'Succeeded' || phase === 'Failed';
