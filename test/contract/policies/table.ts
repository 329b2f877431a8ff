import { badForNodes } from './bad-nodes.ts';
import { badForPods } from './bad-pods.ts';
import type { BadPolicy } from './rows.ts';

export const badPolicies: readonly BadPolicy[] = [...badForPods, ...badForNodes];

/** The object around a spec. */
export const policyOf = (name: string, spec: unknown): object => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name },
  spec,
});
