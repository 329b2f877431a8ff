import { bounded, bounds } from '../runtime/bounds.ts';
import type { OwnerRef, PodFacts } from './objects.ts';
import type { PodTraits } from './pod-record.ts';

type Labels = Readonly<Record<string, string>>;
type Pair = readonly [key: string, value: string];

/** Enough for the nodes and namespaces of a large cluster; a full table starts over, so churn cannot make it grow. */
const maxStrings = 16_384;
/** A power of two. Pods of one owner stand side by side in a list, so few values need to be remembered. */
const slots = 1024;
/** The end of a name or UID is what differs. */
const hashedChars = 8;

const noLabels: Labels = Object.freeze({});
const noStrings: readonly string[] = Object.freeze([]);

/** The API server stores owner references as they come. */
export const boundedOwner = ({ apiVersion, kind, name, uid }: OwnerRef): OwnerRef => ({
  apiVersion: bounded(apiVersion, bounds.apiVersion),
  kind: bounded(kind, bounds.label),
  name: bounded(name, bounds.name),
  uid: bounded(uid, bounds.uid),
});

/** Makes equal values one value: of 100 000 pods most share their node, phase, owner and finalizers. */
export class Interner {
  readonly #strings = new Map<string, string>();
  readonly #owners = new RecentValues<OwnerRef>();
  readonly #labels = new RecentValues<Labels>();
  readonly #lists = new RecentValues<readonly string[]>();
  readonly #traits = new RecentValues<PodTraits>();

  string(text: string): string {
    // Nothing that objects share is longer, and 16 384 long ones would be megabytes.
    if (text.length > bounds.name) return text;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= maxStrings) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  owner(owner: OwnerRef): OwnerRef {
    const hash = hashOf(owner.uid);
    const known = this.#owners.at(hash);
    if (known !== undefined && isSameOwner(known, owner)) return known;
    const { apiVersion, kind, name, uid } = owner;
    return this.#owners.seen(hash, {
      apiVersion: this.string(apiVersion),
      kind: this.string(kind),
      name,
      uid,
    });
  }

  labels(pairs: readonly Pair[]): Labels {
    if (pairs.length === 0) return noLabels;
    const hash = pairs.reduce((sum, [, value]) => (Math.imul(sum, 31) + hashOf(value)) | 0, 0);
    const known = this.#labels.at(hash);
    if (known !== undefined && hasExactly(known, pairs)) return known;
    const made = Object.fromEntries(pairs.map(([key, value]) => [this.string(key), this.string(value)]));
    return this.#labels.seen(hash, made);
  }

  strings(texts: readonly string[]): readonly string[] {
    if (texts.length === 0) return noStrings;
    const hash = hashOf(texts.join());
    const known = this.#lists.at(hash);
    if (known?.length === texts.length && known.every((text, i) => text === texts[i])) return known;
    const made = texts.map((text) => this.string(text));
    return this.#lists.seen(hash, made);
  }

  /** Of facts whose phase, reason, labels and finalizers are interned. */
  traits(facts: PodFacts): PodTraits {
    const { generation, phase, reason, message, controller } = facts;
    let hash = (hashOf(phase) + generation + Number(facts.started)) | 0;
    for (const text of [reason, message, controller?.kind ?? ''])
      hash = (Math.imul(hash, 31) + hashOf(text)) | 0;
    const known = this.#traits.at(hash);
    if (known !== undefined && isSameTraits(known, facts)) return known;
    return this.#traits.seen(hash, traitsOf(facts));
  }
}

/** Values that came at least twice lately, by hash: what is unique would only leave garbage that has grown old. */
class RecentValues<V> {
  readonly #recent = new Array<V | undefined>(slots).fill(undefined);
  readonly #seen = new Int32Array(slots);

  /** Perhaps the value with this hash: to be compared. */
  at(hash: number): V | undefined {
    return this.#recent[hash & (slots - 1)];
  }

  /** Returns `made`, and remembers it when the hash has come before. */
  seen(hash: number, made: V): V {
    const slot = hash & (slots - 1);
    if (this.#seen[slot] === hash) this.#recent[slot] = made;
    this.#seen[slot] = hash;
    return made;
  }
}

function isSameOwner(a: OwnerRef, b: OwnerRef): boolean {
  return a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

function traitsOf(facts: PodFacts): PodTraits {
  const { started, generation, phase, reason, message, labels, finalizers } = facts;
  const { deletionAtMs, deletionGracePeriodSeconds } = facts;
  const { apiVersion: ownerApiVersion, kind: ownerKind } = facts.controller ?? {};
  return {
    ...{ generation, phase, reason, message, labels, finalizers },
    ...{ deletionAtMs, deletionGracePeriodSeconds },
    ...{ started, ownerApiVersion, ownerKind },
  };
}

function isSameTraits(a: PodTraits, b: PodFacts): boolean {
  return (
    isSameState(a, b) &&
    a.labels === b.labels &&
    a.finalizers === b.finalizers &&
    a.ownerKind === b.controller?.kind &&
    a.ownerApiVersion === b.controller?.apiVersion
  );
}

function isSameState(a: PodTraits, b: PodFacts): boolean {
  return (
    a.started === b.started &&
    a.generation === b.generation &&
    a.phase === b.phase &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.deletionAtMs === b.deletionAtMs &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds
  );
}

/** True when the labels are these and no others. */
function hasExactly(labels: Labels, pairs: readonly Pair[]): boolean {
  return pairs.every(([key, value]) => labels[key] === value) && Object.keys(labels).length === pairs.length;
}

function hashOf(text: string): number {
  let hash = text.length;
  for (let i = Math.max(0, text.length - hashedChars); i < text.length; i += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  }
  return hash;
}
