import type { StoredObject } from '../servers/etcd-objects.ts';
import type { Random } from './random.ts';

export interface RandomNodes {
  readonly objects: readonly StoredObject[];
  readonly names: readonly [string, ...string[]];
  /** One that works and has no taint. */
  readonly ready: string;
}

const outOfService = 'node.kubernetes.io/out-of-service';

/** Condition Ready and taints of each node. */
const kinds: readonly (readonly [ready: string | undefined, taints: readonly object[]])[] = [
  ['True', []],
  ['True', [{ key: 'example.com/dedicated', value: 'batch', effect: 'NoSchedule' }]],
  ['False', []],
  ['Unknown', [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }]],
  [undefined, []],
  ['True', [{ key: outOfService, value: 'nodeshutdown', effect: 'NoExecute' }]],
  ['False', [{ key: outOfService, value: 'nodeshutdown', effect: 'NoExecute' }]],
  ['Unknown', [{ key: outOfService, effect: 'NoSchedule' }]],
  [undefined, [{ key: outOfService, value: 'any', effect: 'PreferNoSchedule' }]],
  ['False', [{ key: `${outOfService}-soon`, effect: 'NoExecute' }]],
];

/** Nodes in every state that the collectors distinguish. */
export function randomNodes(random: Random): RandomNodes {
  const objects = kinds.map(([ready, taints], i) => nodeOf(random, { name: `node-${i}`, ready, taints }));
  return {
    objects,
    names: ['node-0', ...objects.slice(1).map(({ metadata }) => metadata.name)],
    ready: 'node-0',
  };
}

interface NodeTraits {
  readonly name: string;
  readonly ready: string | undefined;
  readonly taints: readonly object[];
}

function nodeOf(random: Random, { name, ready, taints }: NodeTraits): StoredObject {
  const creationTimestamp = '2025-12-01T00:00:00Z';
  const pressure = { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' };
  const conditions = ready === undefined ? [pressure] : [pressure, { type: 'Ready', status: ready }];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: random.uid(), creationTimestamp, labels: { 'kubernetes.io/hostname': name } },
    spec: { taints },
    status: { conditions },
  };
}
