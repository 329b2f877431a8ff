import { invalidPolicyText, type InvalidPolicy } from '../../api/policy/policy.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';

/** A stored policy is invalid. */
export const invalidPolicy = (policy: InvalidPolicy): EventSpec => ({
  regarding: {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'GCPolicy',
    name: policy.name,
    uid: policy.uid,
  },
  type: 'Warning',
  reason: 'InvalidPolicy',
  action: 'KeepSelected',
  note: invalidPolicyText(policy),
});
