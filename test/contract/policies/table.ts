import { badForNodes } from './bad-nodes.ts';
import { badForPods } from './bad-pods.ts';

/** A GCPolicy that the API server must refuse, naming the field. */
interface BadPolicy {
  readonly name: string;
  readonly spec: unknown;
  /** Path that the message must name. */
  readonly field: string;
}

export const badPolicies: readonly BadPolicy[] = [...badForPods, ...badForNodes].map(
  ([name, spec, field]) => ({
    name,
    spec,
    field,
  }),
);

/** The object around a spec. */
export const policyOf = (name: string, spec: unknown): object => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name },
  spec,
});
