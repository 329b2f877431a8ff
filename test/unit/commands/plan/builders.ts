import type { Decision, PlanDocument } from '../../../../src/evaluation/plan/document.ts';

type Known = Pick<Decision, 'unit' | 'verdict' | 'reason' | 'object'>;

/** A decision of a plan document; state only what matters. */
export const decision = (known: Known & Partial<Decision>): Decision => ({
  ...{ policy: null, mode: null, order: null, eligibleAt: null, bytes: null, field: null },
  detail: 'It has finished.',
  ...known,
});

/** An empty plan with these fields. */
export const plan = (over: Partial<PlanDocument> = {}): PlanDocument => ({
  ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Plan', generatedAt: '2026-01-15T12:00:00Z' },
  ...{ decisions: [], summary: [], totals: [], policies: [], unknown: [], notes: [] },
  ...over,
});
