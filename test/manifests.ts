import type { Manifest } from './sandbox/api/direct-store.ts';

/** A GCPolicy as a person writes it. */
export const policyManifest = (name: string, spec: object = {}): Manifest => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name },
  spec,
});
