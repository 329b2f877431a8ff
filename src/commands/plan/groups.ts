import { evictionSignals } from '../../api/local-storage.ts';
import { containerRemoveReasons, imageRemoveReasons, podDeleteReasons } from '../../api/reasons.ts';
import { hardSpace } from '../cli/table.ts';
import type { Decision, PlanDocument, Totals } from './document.ts';

/** What goes, or what stays, of one unit in one place. */
export interface Group {
  readonly goes: boolean;
  readonly title: string;
  /** As far as they are listed. */
  readonly decisions: readonly Decision[];
}

type Sums = Readonly<Record<string, number>>;

interface Gathered {
  /** undefined = no policy speaks of the place: only what is listed is known. */
  readonly sums: Sums | undefined;
  readonly decisions: Decision[];
}

/** The one way to name a unit in its place. */
export const placeText = ({ unit, node }: Pick<Totals, 'unit' | 'node'>): string =>
  node === null ? unit : `${unit} on ${node}`;

/** All that goes, what is warned about, then all that stays; a title has the sums whether the objects are listed or not. */
export function groupsOf(plan: PlanDocument): readonly Group[] {
  const places = [...gathered(plan)];
  return fates.flatMap((fate) =>
    places.flatMap(([where, { sums, decisions }]) => {
      const own = decisions.filter((one) => fateOf(one) === fate);
      const goes = fate === 'goes';
      const reasons = Object.entries(
        // Whoever is warned about goes or stays besides, and is counted there.
        fate === 'warned' ? counted(own) : (sums ?? counted(own)),
      ).filter(([reason]) => fate === 'warned' || isGoing(reason) === goes);
      return reasons.length === 0 ? [] : [{ goes, title: titleOf(where, fate, reasons), decisions: own }];
    }),
  );
}

const fates = ['goes', 'warned', 'stays'] as const;
type Fate = (typeof fates)[number];

function fateOf({ order, verdict }: Decision): Fate {
  if (order !== null) return 'goes';
  return verdict === 'Warn' ? 'warned' : 'stays';
}

const verbs: Readonly<Record<Fate, readonly [one: string, more: string]>> = {
  goes: ['goes', 'go'],
  warned: ['warning', 'warnings'],
  stays: ['stays', 'stay'],
};

function gathered({ totals, decisions }: PlanDocument): ReadonlyMap<string, Gathered> {
  const places = new Map<string, Gathered>(
    totals.map((one) => [placeText(one), { sums: one.reasons, decisions: [] }]),
  );
  for (const one of decisions) {
    const where = placeText({ unit: one.unit, node: one.unit === 'podgc' ? null : one.object.node });
    const found = places.get(where);
    if (found === undefined) places.set(where, { sums: undefined, decisions: [one] });
    else found.decisions.push(one);
  }
  return places;
}

function counted(decisions: readonly Decision[]): Sums {
  const sums: Record<string, number> = {};
  for (const { reason } of decisions) sums[reason] = (sums[reason] ?? 0) + 1;
  return sums;
}

const goingReasons: ReadonlySet<string> = new Set([
  ...podDeleteReasons,
  ...imageRemoveReasons,
  ...containerRemoveReasons,
  ...evictionSignals,
]);
const isGoing = (reason: string): boolean => goingReasons.has(reason);

function titleOf(where: string, fate: Fate, reasons: readonly (readonly [string, number])[]): string {
  const count = reasons.reduce((total, [, one]) => total + one, 0);
  const verb = verbs[fate][count === 1 ? 0 : 1];
  return `${where}: ${count} ${verb} (${reasons.map(([reason, one]) => `${reason}${hardSpace}${one}`).join(', ')})`;
}
