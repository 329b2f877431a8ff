import type { ReasonEntry } from '../../gc/reasons/entry.ts';
import { evictionReasons } from '../../gc/reasons/evictions.ts';
import { containerReasons } from '../../gc/reasons/containers.ts';
import { imageReasons } from '../../gc/reasons/images.ts';
import { storageReasons, storageWarnings } from '../../gc/reasons/storage.ts';
import { podReasons } from '../../gc/reasons/pods.ts';
import type { World } from '../../snapshot/world.ts';
import type { Unit } from '../../gc/decision.ts';
import type { Decision, PlanDocument } from '../plan/document.ts';
import type { AskedObject, Found } from './found.ts';
import { holdersOf, type Holder } from './holders.ts';

/** One decision about the object, with what its reason means. */
export interface Explanation extends Decision {
  /** What the reason says of any object. */
  readonly sentence: string;
  /** What would keep what goes, or let go what stays. */
  readonly change: string;
  /** What a person must know before hastening it; null = nothing. */
  readonly caution: string | null;
  /** Of an image: what needs it on this node. */
  readonly heldBy?: readonly Holder[];
}

/** The answer, as `why -o json` prints it: fields are added, never renamed. */
export interface ExplanationDocument {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Explanation';
  readonly generatedAt: string;
  /** As it was asked about. */
  readonly object: AskedObject;
  /** One for each unit that has a say, and for each node. */
  readonly explanations: readonly Explanation[];
  /** What a person should know before believing it, one sentence each. */
  readonly notes: readonly string[];
}

/** Makes an answer of the decisions of a plan about one object. */
export function explain(plan: PlanDocument, { object, world, path }: Found): ExplanationDocument {
  const { apiVersion, generatedAt, notes } = plan;
  const explanations = nearestTo(path, plan.decisions).map((decision) => explanationOf(decision, world));
  return { apiVersion, kind: 'Explanation', generatedAt, object, explanations, notes };
}

function nearestTo(path: string | undefined, decisions: readonly Decision[]): readonly Decision[] {
  const exact = decisions.filter(({ object }) => object.kind !== 'Pod' && object.path === path);
  return path !== undefined && exact.length > 0 ? exact : decisions;
}

function explanationOf(decision: Decision, world: World): Explanation {
  const { meaning, change, caution = null } = meaningOf(decision);
  return { ...decision, sentence: meaning, change, caution, ...heldBy(decision, world) };
}

type Meanings = Readonly<Partial<Record<string, Meaning>>>;
type Meaning = Pick<ReasonEntry<never>, 'meaning' | 'change' | 'caution'>;

const meanings: Readonly<Record<Unit, Meanings>> = {
  podgc: podReasons,
  imagegc: imageReasons,
  localstorage: { ...evictionReasons, ...storageReasons },
  containergc: containerReasons,
};

const warnings: Meanings = storageWarnings;

const meaningOf = ({ unit, verdict, reason, detail }: Decision): Meaning =>
  (verdict === 'Warn' ? warnings : meanings[unit])[reason] ?? { meaning: detail, change: '' };

function heldBy({ object }: Decision, { parts }: World): Pick<Explanation, 'heldBy'> {
  if (object.kind !== 'Image') return {};
  const part = parts.find(({ name }) => name === object.node);
  return part === undefined ? {} : { heldBy: holdersOf(object.id ?? '', part) };
}
