/** One rule broken on purpose: `KeepMarked: by its namespace` begins with the reason code that it is about, or with `order`, `reach`, `memory`, `check`, `stop` or `pace`. */
export type Mutant = readonly [rule: string, file: string, from: string, to: string];

/** The rules of one unit and the tests that have to notice each break. */
export interface MutantGroup {
  readonly unit: string;
  /** Every one of them has to be broken by at least one mutant. */
  readonly reasons: readonly string[];
  /** Test files, or the beginnings of their paths. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}
