import type { Reason } from '../../api/reasons.ts';
import type { Evidenced, Target } from '../decision.ts';

/** The text of one reason: the only source for `plan`, `why`, Events and docs/reference/reasons.md. */
export interface ReasonEntry<E> {
  /** Why dustpan removes or keeps an object, in general. */
  readonly meaning: string;
  /** The same with the values of one object; default: the meaning. */
  readonly sentence?: (evidence: E) => string;
  /** The policy field or object label that decides, with its value; default: neither decides. */
  readonly field?: (evidence: E) => string | undefined;
  /** The change that would reverse the verdict. */
  readonly change: string;
  /** A risk to consider before acting on the verdict. */
  readonly caution?: string;
}

/** One entry for each reason of a unit. The keys of `E` are the reasons, its values the evidence for their sentences. */
export type ReasonCatalog<E> = { readonly [R in keyof E]: ReasonEntry<E[R]> };

/** Evidence of a reason whose sentence has no values. */
export type NoEvidence = undefined;

interface Explained {
  /** One sentence with the values of the object. */
  readonly detail: string;
  /** The policy field or object label that decided, with its value; undefined = neither did. */
  readonly field: string | undefined;
}

/** Explains a decision by the catalog of its unit. */
export function explain<E, R extends keyof E & Reason>(
  catalog: ReasonCatalog<E>,
  { reason, evidence }: Pick<Evidenced<Target, R, E[R]>, 'reason' | 'evidence'>,
): Explained {
  const entry = catalog[reason];
  return { detail: entry.sentence?.(evidence) ?? entry.meaning, field: entry.field?.(evidence) };
}
