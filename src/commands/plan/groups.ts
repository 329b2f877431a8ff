import { evictionSignals } from '../../api/local-storage.ts';
import { containerRemoveReasons, imageRemoveReasons, podDeleteReasons } from '../../api/reasons.ts';
import { hardSpace } from '../../process/table.ts';
import { sum } from '../../runtime/sum.ts';
import type { Decision, PlanDocument, Totals } from '../../evaluation/plan/document.ts';

/** The objects of one unit in one place that have the same fate. */
export interface Group {
  readonly fate: Fate;
  readonly title: string;
  readonly decisions: readonly Decision[];
}

export const placeText = ({ unit, node }: Pick<Totals, 'unit' | 'node'>): string =>
  node === null ? unit : `${unit} on ${node}`;

/** Removals first, then warnings, then kept objects. A title has the counts whether the objects are listed or not. */
export function groupsOf({ totals, decisions, policies }: PlanDocument): readonly Group[] {
  const countsOf = new Map(totals.map((total) => [placeText(total), total.reasons]));
  const listed = Map.groupBy(decisions, ({ unit, object }) =>
    placeText({ unit, node: unit === 'podgc' ? null : object.node }),
  );
  const places = new Set([...countsOf.keys(), ...listed.keys()]);
  const modes = new Set(policies.map(({ mode }) => mode));
  const isDry = modes.has('DryRun') && !modes.has('Enforce');
  return fates.flatMap((fate) =>
    [...places].flatMap((place) => {
      const group = (listed.get(place) ?? []).filter((decision) => fateOf(decision) === fate);
      // Totals do not count warnings by reason: each is about an object that is counted as removed or kept.
      const totalCounts = fate === 'warned' ? undefined : countsOf.get(place);
      const reasons = Object.entries(totalCounts ?? countsIn(group)).filter(
        ([reason]) => fate === 'warned' || isRemoval(reason) === (fate === 'removed'),
      );
      return reasons.length === 0
        ? []
        : [{ fate, title: titleOf({ place, fate, isDry }, reasons), decisions: group }];
    }),
  );
}

const fates = ['removed', 'warned', 'kept'] as const;
type Fate = (typeof fates)[number];

function fateOf({ order, verdict }: Decision): Fate {
  if (order !== null) return 'removed';
  return verdict === 'Warn' ? 'warned' : 'kept';
}

function countsIn(decisions: readonly Decision[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(decisions, ({ reason }) => reason);
  return Object.fromEntries([...groups].map(([reason, group]) => [reason, group.length]));
}

const removalReasons: ReadonlySet<string> = new Set([
  ...podDeleteReasons,
  ...imageRemoveReasons,
  ...containerRemoveReasons,
  ...evictionSignals,
]);
const isRemoval = (reason: string): boolean => removalReasons.has(reason);

/** `isDry`: every policy is in mode DryRun. */
function titleOf(
  { place, fate, isDry }: Pick<Group, 'fate'> & { readonly place: string; readonly isDry: boolean },
  reasons: readonly (readonly [string, number])[],
): string {
  const count = sum(reasons.map(([, ofReason]) => ofReason));
  const words = {
    removed: isDry ? 'to remove in mode Enforce' : 'to remove',
    warned: count === 1 ? 'warning' : 'warnings',
    kept: 'kept',
  };
  const parts = reasons.map(([reason, ofReason]) => `${reason}${hardSpace}${ofReason}`);
  return `${place}: ${count} ${words[fate]} (${parts.join(', ')})`;
}
