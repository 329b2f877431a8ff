import { evictionSignals } from '../../api/local-storage.ts';
import { containerRemoveReasons, imageRemoveReasons, podDeleteReasons } from '../../api/reasons.ts';
import { hardSpace } from '../../process/table.ts';
import type { Decision, PlanDocument, Totals } from '../../evaluation/plan/document.ts';

/** The objects of one unit in one place that have the same fate. */
export interface Group {
  readonly fate: Fate;
  readonly title: string;
  readonly decisions: readonly Decision[];
}

type Counts = Readonly<Record<string, number>>;

interface Place {
  /** By reason; undefined = no policy has a rule here: only listed objects are counted. */
  readonly counts: Counts | undefined;
  readonly decisions: Decision[];
}

export const placeText = ({ unit, node }: Pick<Totals, 'unit' | 'node'>): string =>
  node === null ? unit : `${unit} on ${node}`;

/** Removals first, then warnings, then kept objects. A title has the counts whether the objects are listed or not. */
export function groupsOf(plan: PlanDocument): readonly Group[] {
  const places = [...placesOf(plan)];
  const modes = new Set(plan.policies.map(({ mode }) => mode));
  const isDry = modes.has('DryRun') && !modes.has('Enforce');
  return fates.flatMap((fate) =>
    places.flatMap(([place, { counts, decisions }]) => {
      const own = decisions.filter((one) => fateOf(one) === fate);
      // Totals do not count warnings by reason: each is about an object that is counted as removed or kept.
      const reasons = Object.entries(fate === 'warned' ? countsOf(own) : (counts ?? countsOf(own))).filter(
        ([reason]) => fate === 'warned' || isRemoval(reason) === (fate === 'removed'),
      );
      return reasons.length === 0
        ? []
        : [{ fate, title: titleOf({ place, fate, isDry }, reasons), decisions: own }];
    }),
  );
}

const fates = ['removed', 'warned', 'kept'] as const;
type Fate = (typeof fates)[number];

function fateOf({ order, verdict }: Decision): Fate {
  if (order !== null) return 'removed';
  return verdict === 'Warn' ? 'warned' : 'kept';
}

function placesOf({ totals, decisions }: PlanDocument): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>(
    totals.map((one) => [placeText(one), { counts: one.reasons, decisions: [] }]),
  );
  for (const one of decisions) {
    const place = placeText({ unit: one.unit, node: one.unit === 'podgc' ? null : one.object.node });
    const found = places.get(place);
    if (found === undefined) places.set(place, { counts: undefined, decisions: [one] });
    else found.decisions.push(one);
  }
  return places;
}

function countsOf(decisions: readonly Decision[]): Counts {
  const counts: Record<string, number> = {};
  for (const { reason } of decisions) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

const removalReasons: ReadonlySet<string> = new Set([
  ...podDeleteReasons,
  ...imageRemoveReasons,
  ...containerRemoveReasons,
  ...evictionSignals,
]);
const isRemoval = (reason: string): boolean => removalReasons.has(reason);

/** `isDry`: every policy is in mode DryRun. */
interface Heading extends Pick<Group, 'fate'> {
  readonly place: string;
  readonly isDry: boolean;
}

function titleOf({ place, fate, isDry }: Heading, reasons: readonly (readonly [string, number])[]): string {
  const count = reasons.reduce((total, [, one]) => total + one, 0);
  const words = {
    removed: isDry ? 'to remove in mode Enforce' : 'to remove',
    warned: count === 1 ? 'warning' : 'warnings',
    kept: 'kept',
  };
  return `${place}: ${count} ${words[fate]} (${reasons.map(([reason, one]) => `${reason}${hardSpace}${one}`).join(', ')})`;
}
