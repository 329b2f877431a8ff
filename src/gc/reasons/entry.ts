import type { Reason } from '../../api/reasons.ts';
import type { Decision, Target } from '../decision.ts';

/** What one reason means to a person: `plan`, `why`, Events and docs/reference/reasons.md take its words from here alone. */
export interface ReasonEntry<E> {
  /** Why the object is removed or stays, of any object. */
  readonly meaning: string;
  /** The same with the figures of one object; default: the meaning. */
  readonly sentence?: (evidence: E) => string;
  /** What decided, with its value: a field of the policy, or a mark on an object; default: neither does. */
  readonly field?: (evidence: E) => string | undefined;
  /** What would keep an object that is removed, or would remove one that stays. */
  readonly change: string;
  /** What a person must know before believing or hastening the verdict. */
  readonly caution?: string;
}

/** One entry for each reason of a unit; the keys of `E` are the reasons, its values what their sentences are made of. */
export type ReasonCatalog<E> = { readonly [R in keyof E]: ReasonEntry<E[R]> };

/** Of reasons that need no figures. */
export type NoEvidence = undefined;

/** What decided about one object, for a person. */
interface Explained {
  /** One sentence with the figures. */
  readonly detail: string;
  /** The field of the policy, or the mark on an object, that decided, with its value; undefined = neither did. */
  readonly field: string | undefined;
}

/** Says why a decision was made, by the catalog of its unit. */
export function explain<E, R extends keyof E & Reason>(
  catalog: ReasonCatalog<E>,
  { reason, evidence }: Pick<Decision<Target, R, E[R]>, 'reason' | 'evidence'>,
): Explained {
  const entry = catalog[reason];
  return { detail: entry.sentence?.(evidence) ?? entry.meaning, field: entry.field?.(evidence) };
}
