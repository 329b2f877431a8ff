import type { OwnNode } from './facts.ts';

/** What the API server says of a node that matters more than any report of its agent. */
export interface NodeState {
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly command: string;
  /** RFC 3339; undefined = not known. */
  readonly since: string | undefined;
}

/** The node lifecycle controller of Kubernetes keeps a taint for each condition. */
const pressures: readonly (readonly [taint: string, reason: string, message: string])[] = [
  [
    'node.kubernetes.io/disk-pressure',
    'DiskPressure',
    'The kubelet is short of disk: it evicts pods and removes unused images, whatever the policies say.',
  ],
  [
    'node.kubernetes.io/memory-pressure',
    'MemoryPressure',
    'The kubelet is short of memory: it evicts pods, whatever the policies say.',
  ],
  [
    'node.kubernetes.io/pid-pressure',
    'PIDPressure',
    'The kubelet is short of process IDs: it evicts pods, whatever the policies say.',
  ],
];

/** Nodes that are not ready, or short of something. */
export const troubledNodes = (nodes: readonly Omit<OwnNode, 'labels'>[] = []): readonly NodeState[] =>
  nodes.flatMap(({ name, ready, readyChangedAtMs, taintKeys }) => {
    const command = `kubectl describe node ${name}`;
    const notReady = {
      name,
      command,
      reason: 'NotReady',
      message:
        'The kubelet or its container runtime does not work, or the node is cut off: the values of its report are old, and nothing may be removed there.',
      since: readyChangedAtMs === undefined ? undefined : new Date(readyChangedAtMs).toISOString(),
    };
    const short = pressures
      .filter(([taint]) => taintKeys.includes(taint))
      .map(([, reason, message]) => ({ name, reason, message, command, since: undefined }));
    return ready ? short : [notReady, ...short];
  });
