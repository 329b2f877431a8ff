import { holdLeftMs, inForceForMs } from '../../gc/hold.ts';
import { keep, type Governed, type ImageDecision, type ImageGcFacts, type ImageGcPlan } from './facts.ts';

interface Selection extends Governed {
  readonly facts: ImageGcFacts;
}

/**
 * Keeps the selected images while a large removal by new rules waits; `unused`: the number of images that nothing but the disk usage, their
 * age or a limit keeps. Node pressure waits too, unless the kubelet would act before the end: it removes every unused image, and evicts (ADR 91).
 */
export function unlessHeld(plan: ImageGcPlan, unused: number, selection: Selection): ImageGcPlan {
  const { facts, policy, rule, now, demands } = selection;
  const paced = plan.kept.filter(isPaced);
  const due = plan.removals.length + paced.length;
  const since = inForceForMs(policy, facts.inForce, now);
  const removal = { due, governed: unused, removable: unused, inForceForMs: since };
  const leftMs = holdLeftMs(policy, rule.hold, removal);
  const isUrgent = demands.some(({ kubeletInMs = Infinity }) => kubeletInMs <= (leftMs ?? 0));
  if (leftMs === undefined || isUrgent) return { ...plan, selected: { due, unused, holdLeftMs: undefined } };
  const why = { reason: 'Holding', eligibleAtMs: now.getTime() + leftMs } as const;
  const held = [...plan.removals, ...paced].map(({ target }) => keep(target, why, policy));
  return {
    ...plan,
    selected: { due, unused, holdLeftMs: leftMs },
    candidates: [],
    removals: [],
    reclaim: new Map([...plan.reclaim.keys()].map((signal) => [signal, 'MoreLeft'])),
    kept: [...held, ...plan.kept.filter((one) => !isPaced(one))],
  };
}

const isPaced = ({ reason }: ImageDecision): boolean => reason === 'PacingLimit';
