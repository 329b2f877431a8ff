import type { OwnerRef } from './objects.ts';

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

/** Makes equal values one value: of 100 000 pods most share their node, phase, owner and finalizers. */
export class Interner {
  readonly #strings = new Map<string, string>();
  readonly #owners = new RecentValues<OwnerRef>();
  readonly #labels = new RecentValues<Labels>();
  readonly #lists = new RecentValues<readonly string[]>();

  string(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= maxStrings) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  owner({ apiVersion, kind, name, uid }: OwnerRef): OwnerRef {
    return this.#owners.share(hashOf(uid), {
      isSame: (o) => o.uid === uid && o.name === name && o.kind === kind && o.apiVersion === apiVersion,
      make: () => ({ apiVersion: this.string(apiVersion), kind: this.string(kind), name, uid }),
    });
  }

  labels(pairs: readonly Pair[]): Labels {
    if (pairs.length === 0) return noLabels;
    const hash = pairs.reduce((sum, [, value]) => (Math.imul(sum, 31) + hashOf(value)) | 0, 0);
    return this.#labels.share(hash, {
      isSame: (labels) => hasExactly(labels, pairs),
      make: () => Object.fromEntries(pairs.map(([key, value]) => [this.string(key), this.string(value)])),
    });
  }

  strings(texts: readonly string[]): readonly string[] {
    if (texts.length === 0) return noStrings;
    return this.#lists.share(hashOf(texts.join()), {
      isSame: (list) => list.length === texts.length && list.every((text, i) => text === texts[i]),
      make: () => texts.map((text) => this.string(text)),
    });
  }
}

/** Values that came at least twice lately, by hash: what is unique would only leave garbage that has grown old. */
class RecentValues<V> {
  readonly #recent = new Array<V | undefined>(slots).fill(undefined);
  readonly #seen = new Int32Array(slots);

  share(hash: number, value: { isSame(known: V): boolean; make(): V }): V {
    const slot = hash & (slots - 1);
    const known = this.#recent[slot];
    if (known !== undefined && value.isSame(known)) return known;
    const made = value.make();
    if (this.#seen[slot] === hash) this.#recent[slot] = made;
    this.#seen[slot] = hash;
    return made;
  }
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
