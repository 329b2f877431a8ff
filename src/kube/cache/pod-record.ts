import type { OwnerRef, PodFacts, PodWait } from './objects.ts';
import type { SharedValues } from '../codec/shared-values.ts';

/** The facts that many pods have in common. */
const shared = [
  'generation',
  'deletionAtMs',
  'deletionGracePeriodSeconds',
  'labels',
  'finalizers',
  'nodeExisted',
  'ready',
  'phase',
  'reason',
  'endedByKubelet',
  'markedByPodGc',
  'ends',
  'ttlAnnotation',
  'partlyEnded',
] as const satisfies readonly (keyof PodFacts)[];

type SharedFacts = Pick<PodFacts, (typeof shared)[number]>;

export interface PodTraits extends SharedFacts {
  readonly ownerApiVersion: string | undefined;
  readonly ownerKind: string | undefined;
}

class HasTraits {
  readonly traits: PodTraits;

  constructor(traits: PodTraits) {
    this.traits = traits;
  }
}

for (const name of shared) {
  const get = function (this: HasTraits): unknown {
    return this.traits[name];
  };
  Object.defineProperty(HasTraits.prototype, name, { get });
}

const Shared = HasTraits as new (traits: PodTraits) => HasTraits & SharedFacts;

/** The facts of a pod. Many pods share one object of traits (ADR 37), which saves 19 MB for 100 000 pods. */
export class PodRecord extends Shared implements PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly nodeName: string | undefined;
  readonly resourceVersion: string;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | undefined;
  readonly finishedByMs: number | undefined;
  readonly ownerUid: string | undefined;
  readonly ownerName: string | undefined;
  readonly wait: PodWait | undefined;
  readonly ttlRules: PodFacts['ttlRules'];

  constructor(facts: PodFacts, traits: SharedValues<PodTraits>) {
    super(traits.shareBy(keyOf(facts), () => traitsOf(facts)));
    this.uid = facts.uid;
    this.name = facts.name;
    this.namespace = facts.namespace;
    this.nodeName = facts.nodeName;
    this.resourceVersion = facts.resourceVersion;
    this.createdAtMs = facts.createdAtMs;
    this.finishedAtMs = facts.finishedAtMs;
    this.finishedByMs = facts.finishedByMs;
    this.wait = facts.wait;
    this.ttlRules = facts.ttlRules;
    this.ownerUid = facts.controller?.uid;
    this.ownerName = facts.controller?.name;
  }

  /** Returns a new object each time. */
  get controller(): OwnerRef | undefined {
    const { ownerUid: uid, ownerName: name, traits } = this;
    if (uid === undefined || name === undefined) return undefined;
    return { apiVersion: traits.ownerApiVersion ?? '', kind: traits.ownerKind ?? '', name, uid };
  }
}

/** Equal only for equal traits. Without their names: it is made for every pod that is read, and the traits for few. */
const keyOf = (facts: PodFacts): string =>
  JSON.stringify([
    facts.controller?.apiVersion,
    facts.controller?.kind,
    ...shared.map((name) => facts[name]),
  ]);

function traitsOf(facts: PodFacts): PodTraits {
  const { apiVersion, kind } = facts.controller ?? {};
  const traits: Record<string, unknown> = { ownerApiVersion: apiVersion, ownerKind: kind };
  for (const name of shared) traits[name] = facts[name];
  return traits as unknown as PodTraits;
}
