import type { World } from '../../snapshot/world.ts';
import type { Asked } from '../plan/document.ts';

/** What was asked about, as JSON has it. */
export type AskedObject =
  | { readonly kind: 'Pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'Image' | 'Container'; readonly text: string; readonly node: string | null };

/** The object of a question, or why there is no single one; messages are one line. */
export type Target = Found | Missing | Ambiguous;

export interface Found {
  readonly kind: 'found';
  readonly object: AskedObject;
  /** What the answer needs of the world. */
  readonly world: World;
  readonly asked: Asked;
  /** Of a log: a decision about it alone comes before one about the directory that it is in. */
  readonly path?: string;
}

interface Missing {
  readonly kind: 'missing';
  readonly message: string;
}

interface Ambiguous {
  readonly kind: 'ambiguous';
  readonly message: string;
}

export const missing = (message: string): Missing => ({ kind: 'missing', message });

/** More are no help in one line. */
const maxCandidates = 5;

/** Two or more things begin alike. */
export function ambiguous(text: string, candidates: readonly string[]): Ambiguous {
  const shown = candidates.slice(0, maxCandidates).join(', ');
  const more = candidates.length - maxCandidates;
  return {
    kind: 'ambiguous',
    message: `${JSON.stringify(text)} is the beginning of ${candidates.length}: ${shown}${more > 0 ? ` and ${more} more` : ''}`,
  };
}
