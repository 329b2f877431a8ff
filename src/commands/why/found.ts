import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import type { ObjectFilter } from '../plan/document.ts';
import { firstOf } from '../cli/table.ts';

/** The object that a question names, as JSON has it. */
export type AskedObject =
  | { readonly kind: 'Pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'Image' | 'Container'; readonly text: string; readonly node: string | null };

/** The object of a question, or why there is no single one. */
export type Target = Found | NotFound;

export interface Found {
  readonly kind: 'found';
  readonly object: AskedObject;
  /** Without the nodes and reports that have nothing to do with the object. */
  readonly facts: PlanFacts;
  /** Selects the decisions about the object. */
  readonly only: ObjectFilter;
  /** The path of a log: a decision about this path precedes one about its directory. */
  readonly path?: string;
}

interface NotFound {
  readonly kind: 'missing' | 'ambiguous';
  /** One line. */
  readonly message: string;
}

export const missing = (message: string): NotFound => ({ kind: 'missing', message });

const maxCandidates = 5;

/** Several objects match. */
export const ambiguous = (text: string, candidates: readonly string[]): NotFound => ({
  kind: 'ambiguous',
  message: `${JSON.stringify(text)} is ambiguous, ${candidates.length} match: ${firstOf(candidates, maxCandidates)}`,
});
