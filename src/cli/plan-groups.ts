import { containerRemoveReasons, imageRemoveReasons, podDeleteReasons } from '../api/reasons.ts';
import { hardSpace } from './paragraph.ts';
import type { Decision, PlanDocument, Totals } from './plan-document.ts';

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

/** All that goes, then all that stays; a title has the sums whether the objects are listed or not. */
export function groupsOf(plan: PlanDocument): readonly Group[] {
  const places = [...gathered(plan)];
  return [true, false].flatMap((goes) =>
    places.flatMap(([where, { sums, decisions }]) => {
      const own = decisions.filter(({ order }) => (order !== null) === goes);
      const reasons = Object.entries(sums ?? counted(own)).filter(([reason]) => isGoing(reason) === goes);
      return reasons.length === 0 ? [] : [{ goes, title: titleOf(where, goes, reasons), decisions: own }];
    }),
  );
}

function gathered({ totals, decisions }: PlanDocument): ReadonlyMap<string, Gathered> {
  const places = new Map<string, Gathered>(
    totals.map((one) => [placeText(one), { sums: one.reasons, decisions: [] }]),
  );
  for (const one of decisions) {
    const where = placeText({ unit: one.unit, node: one.object.kind === 'Pod' ? null : one.object.node });
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
]);
const isGoing = (reason: string): boolean => goingReasons.has(reason);

function titleOf(where: string, goes: boolean, reasons: readonly (readonly [string, number])[]): string {
  const count = reasons.reduce((total, [, one]) => total + one, 0);
  const verb = goes ? (count === 1 ? 'goes' : 'go') : count === 1 ? 'stays' : 'stay';
  return `${where}: ${count} ${verb} (${reasons.map(([reason, one]) => `${reason}${hardSpace}${one}`).join(', ')})`;
}
