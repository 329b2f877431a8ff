import type { Policy } from '../../api/policy/policy.ts';
import type { Changes, Decision, ModeChange, PlanDocument, PlanObject } from './document.ts';

export function changesBetween(
  inForce: Pick<PlanDocument, 'decisions' | 'policies'>,
  proposed: Pick<PlanDocument, 'decisions' | 'policies'>,
): Omit<Changes, 'unknown'> {
  const [before, after] = [removals(inForce), removals(proposed)];
  return {
    more: [...after].flatMap(([key, decision]) => (before.has(key) ? [] : [decision])),
    less: [...before].flatMap(([key, decision]) => (after.has(key) ? [] : [decision])),
    modes: modeChanges(modesOf(inForce), modesOf(proposed)),
  };
}

function removals({ decisions }: Pick<PlanDocument, 'decisions'>): ReadonlyMap<string, Decision> {
  return new Map(
    decisions.flatMap((decision) =>
      decision.order === null ? [] : [[objectKey(decision.object), decision]],
    ),
  );
}

export const objectKey = (object: PlanObject): string =>
  object.kind === 'Pod'
    ? `Pod ${object.uid}`
    : `${object.kind} ${object.node} ${object.id ?? ''} ${object.path ?? ''}`;

type Modes = ReadonlyMap<string, Policy['mode']>;

const modesOf = ({ policies }: Pick<PlanDocument, 'policies'>): Modes =>
  new Map(policies.map(({ name, mode }) => [name, mode]));

function modeChanges(before: Modes, after: Modes): readonly ModeChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((policy) => {
    const change = { policy, before: before.get(policy) ?? null, after: after.get(policy) ?? null };
    return change.before === change.after ? [] : [change];
  });
}

export function modeChangeText({ policy, before, after }: ModeChange): string {
  if (before === null) return `GCPolicy ${policy} is new, in mode ${after ?? ''}.`;
  if (after === null)
    return `GCPolicy ${policy}, in mode ${before}, is not among the given policies, so it counts as deleted.`;
  return `GCPolicy ${policy} changes from mode ${before} to ${after}.`;
}
