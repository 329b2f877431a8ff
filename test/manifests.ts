import type { Manifest } from './sandbox/api/direct-store.ts';

/** A GCPolicy as a person writes it. */
export const policyManifest = (name: string, spec: object = {}): Manifest => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name },
  spec,
});

interface PodRules {
  readonly safety?: object;
}

/** Rules for pods whose first large deletion does not wait. */
export const unheldPods = (pods: object): object => ({
  ...pods,
  safety: { holdAbove: 0, ...(pods as PodRules).safety },
});

interface NodeRules {
  readonly imageGC?: object;
}

/** Rules for nodes whose first large removal of images does not wait. */
export function unheldNodes(nodes: object): object {
  const { imageGC } = nodes as NodeRules;
  return imageGC === undefined ? nodes : { ...nodes, imageGC: { holdAbove: 0, ...imageGC } };
}
