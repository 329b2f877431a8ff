import type { Decision } from '../../../../src/commands/plan/document.ts';

type Known = Pick<Decision, 'unit' | 'verdict' | 'reason' | 'object' | 'detail'>;

/** A decision of a plan document; state only what matters. */
export const decision = (known: Known & Partial<Decision>): Decision => ({
  ...{ policy: null, mode: null, order: null, eligibleAt: null, bytes: null, field: null },
  ...known,
});
