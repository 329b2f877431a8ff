/**
 * One rule broken on purpose: `KeepMarked: by its namespace` begins with its subject, which is the reason code that it is about, or one of
 * `subjects`.
 */
export type Mutant = readonly [rule: string, file: string, from: string, to: string];

/** The subjects of rules that are not about one reason code. */
export const subjects = [
  // Of plans and passes.
  ...['order', 'reach', 'memory', 'check', 'stop', 'pace', 'count'],
  // Of adapters: what is sent, how a response is understood, what a list or a watch shows, what is read out of an object, what may not be touched.
  ...['request', 'response', 'list', 'watch', 'fact', 'lease', 'event', 'access', 'path', 'deadline'],
] as const;

/** The rules of one unit or adapter and the tests that have to notice each break. */
export interface MutantGroup {
  readonly unit: string;
  /** Every one of them has to be broken by at least one mutant. */
  readonly reasons: readonly string[];
  /** Test files, or the beginnings of their paths. Those of `test/contract` run against the sandbox. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}
