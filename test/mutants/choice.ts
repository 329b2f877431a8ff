import { createHash } from 'node:crypto';
import { mutantGroups } from './all.ts';
import type { MutantGroup } from './group.ts';

/** About one mutant in so many is quick. */
const quickShare = 16;

interface Choice {
  /** Units, the folders of units such as `kube`, or units with the beginning of a rule such as `imagegc/TooYoung`; none = all. */
  readonly names: readonly string[];
  /** Chooses a part of the mutants; the same seed chooses the same ones. undefined = all. */
  readonly seed: string | undefined;
}

/** The groups to run, with the chosen mutants alone. Throws for a name that chooses no mutant. */
export function chosenGroups({ names, seed }: Choice): readonly MutantGroup[] {
  const unknown = names.filter(
    (name) => !mutantGroups.some(({ unit, mutants }) => mutants.some(([rule]) => isNamed(unit, rule, name))),
  );
  if (unknown.length > 0) throw new Error(`no such unit or rule: ${unknown.join()}`);
  return mutantGroups
    .map((group) => ({
      ...group,
      mutants: group.mutants.filter(
        ([rule]) =>
          (names.length === 0 || names.some((name) => isNamed(group.unit, rule, name))) &&
          (seed === undefined || isQuick(`${seed}/${group.unit}/${rule}`)),
      ),
    }))
    .filter(({ mutants }) => mutants.length > 0);
}

const isNamed = (unit: string, rule: string, name: string): boolean =>
  `${unit}/`.startsWith(`${name}/`) || (name.startsWith(`${unit}/`) && `${unit}/${rule}`.startsWith(name));

const isQuick = (key: string): boolean =>
  createHash('sha256').update(key).digest().readUInt32BE(0) % quickShare === 0;
