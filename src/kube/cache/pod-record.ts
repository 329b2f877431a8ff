import type { OwnerRef, PodFacts, PodWait } from './objects.ts';
import type { SharedValues } from '../codec/shared-values.ts';

/** The facts that many pods have in common. */
export interface PodTraits extends Omit<
  PodFacts,
  | 'uid'
  | 'name'
  | 'namespace'
  | 'nodeName'
  | 'resourceVersion'
  | 'createdAtMs'
  | 'finishedAtMs'
  | 'finishedByMs'
  | 'controller'
  | 'ttlRules'
  | 'wait'
> {
  readonly ownerApiVersion: string | undefined;
  readonly ownerKind: string | undefined;
}

/** The facts of a pod. Many pods share one object of traits (ADR 37), which saves 19 MB for 100 000 pods. */
export class PodRecord implements PodFacts {
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
  readonly traits: PodTraits;

  constructor(facts: PodFacts, traits: SharedValues<PodTraits>) {
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
    this.traits = traits.share(traitsOf(facts));
  }

  /** Returns a new object each time. */
  get controller(): OwnerRef | undefined {
    const { ownerUid: uid, ownerName: name, traits } = this;
    if (uid === undefined || name === undefined) return undefined;
    return { apiVersion: traits.ownerApiVersion ?? '', kind: traits.ownerKind ?? '', name, uid };
  }

  get nodeExisted(): boolean {
    return this.traits.nodeExisted;
  }

  get generation(): number {
    return this.traits.generation;
  }

  get ready(): boolean {
    return this.traits.ready;
  }

  get phase(): string {
    return this.traits.phase;
  }

  get reason(): string {
    return this.traits.reason;
  }

  get endedByKubelet(): boolean {
    return this.traits.endedByKubelet;
  }

  get markedByPodGc(): boolean {
    return this.traits.markedByPodGc;
  }

  get ends(): PodFacts['ends'] {
    return this.traits.ends;
  }

  get labels(): PodFacts['labels'] {
    return this.traits.labels;
  }

  get ttlAnnotation(): string | undefined {
    return this.traits.ttlAnnotation;
  }

  get finalizers(): readonly string[] {
    return this.traits.finalizers;
  }

  get partlyEnded(): PodFacts['partlyEnded'] {
    return this.traits.partlyEnded;
  }

  get deletionAtMs(): number | undefined {
    return this.traits.deletionAtMs;
  }

  get deletionGracePeriodSeconds(): number | undefined {
    return this.traits.deletionGracePeriodSeconds;
  }
}

function traitsOf(facts: PodFacts): PodTraits {
  return {
    nodeExisted: facts.nodeExisted,
    generation: facts.generation,
    ready: facts.ready,
    phase: facts.phase,
    reason: facts.reason,
    endedByKubelet: facts.endedByKubelet,
    markedByPodGc: facts.markedByPodGc,
    ends: facts.ends,
    labels: facts.labels,
    ttlAnnotation: facts.ttlAnnotation,
    finalizers: facts.finalizers,
    partlyEnded: facts.partlyEnded,
    deletionAtMs: facts.deletionAtMs,
    deletionGracePeriodSeconds: facts.deletionGracePeriodSeconds,
    ownerApiVersion: facts.controller?.apiVersion,
    ownerKind: facts.controller?.kind,
  };
}
