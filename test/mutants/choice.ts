import { createHash } from 'node:crypto';
import { mutantGroups } from './all.ts';
import type { MutantGroup } from './group.ts';

/** About one mutant in so many is quick. */
const quickShare = 16;

interface Choice {
  /** Units, or the folders of units such as `kube`; none = all. */
  readonly names: readonly string[];
  /** Chooses a part of the mutants; the same seed chooses the same ones. undefined = all. */
  readonly seed: string | undefined;
}

/** The groups to run, with the chosen mutants alone. Throws for a name that no group has. */
export function chosenGroups({ names, seed }: Choice): readonly MutantGroup[] {
  const unknown = names.filter((name) => !mutantGroups.some(({ unit }) => isNamed(unit, name)));
  if (unknown.length > 0) throw new Error(`no such unit: ${unknown.join()}`);
  return mutantGroups
    .filter(({ unit }) => names.length === 0 || names.some((name) => isNamed(unit, name)))
    .map((group) => ({
      ...group,
      mutants: group.mutants.filter(
        ([rule]) => seed === undefined || isQuick(`${seed}/${group.unit}/${rule}`),
      ),
    }))
    .filter(({ mutants }) => mutants.length > 0);
}

const isNamed = (unit: string, name: string): boolean => unit === name || unit.startsWith(`${name}/`);

const isQuick = (key: string): boolean =>
  createHash('sha256').update(key).digest().readUInt32BE(0) % quickShare === 0;
