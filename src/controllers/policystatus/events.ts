import { invalidPolicyText, type InvalidPolicy } from '../../api/policy/policy.ts';
import { policyRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';

/** A stored policy is invalid. */
export const invalidPolicy = (policy: InvalidPolicy): EventSpec => ({
  regarding: policyRef(policy),
  type: 'Warning',
  reason: 'InvalidPolicy',
  action: 'KeepSelected',
  note: invalidPolicyText(policy),
});
