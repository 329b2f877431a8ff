import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import type { ObjectFilter } from '../plan/document.ts';
import type { NodeQuestion, Question } from './question.ts';
import { firstOf } from '../../gc/reasons/words.ts';

export interface AskedPod {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
}

const kinds = { image: 'Image', container: 'Container', sandbox: 'Sandbox', node: 'Node' } as const;

/** The object that a question names, as JSON has it. */
export type AskedObject =
  | AskedPod
  | {
      readonly kind: (typeof kinds)[NodeQuestion['kind']];
      readonly text: string;
      readonly node: string | null;
    };

/** As in kubectl. */
const defaultNamespace = 'default';

export function askedObject(question: Extract<Question, { kind: 'pod' }>): AskedPod;
export function askedObject(question: Question): AskedObject;
export function askedObject(question: Question): AskedObject {
  if (question.kind === 'pod') {
    const { namespace = defaultNamespace, name } = question;
    return { kind: 'Pod', namespace, name };
  }
  const { kind, text, node = null } = question;
  return { kind: kinds[kind], text, node };
}

/** The object of a question, or why there is no single one. */
export type Target = Found | NotFound;

export interface Found {
  readonly kind: 'found';
  readonly object: AskedObject;
  /** Without the nodes and reports that have nothing to do with the object. */
  readonly facts: PlanFacts;
  readonly only: ObjectFilter;
  /** The path of a log: a decision about this path precedes one about its directory. */
  readonly path?: string;
}

interface NotFound {
  /** `unread`: what dustpan read does not show whether the object exists. */
  readonly kind: 'missing' | 'unread' | 'ambiguous';
  readonly message: string;
}

export const missing = (message: string): NotFound => ({ kind: 'missing', message });

export const unread = (message: string): NotFound => ({ kind: 'unread', message });

const maxCandidates = 5;

export const namesOf = (parts: readonly NodePart[]): string =>
  firstOf(
    parts.map(({ name }) => name),
    maxCandidates,
  );

export const ambiguous = (text: string, candidates: readonly string[]): NotFound => ({
  kind: 'ambiguous',
  message: `${JSON.stringify(text)} is ambiguous, ${candidates.length} match: ${firstOf(candidates, maxCandidates)}`,
});
