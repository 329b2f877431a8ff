import type { LabelExpression, LabelSelector } from './policy.ts';

type Labels = Readonly<Record<string, string>>;

/** One of the selectors. */
interface Member {
  readonly at: number;
  /** The number of its requirements that a label must meet. */
  wanted: number;
  /** The number of them that the current object meets; 0 between two calls. */
  met: number;
}

/** The selectors that name one label key, or one value of it. */
interface Naming {
  /** The label meets one of their requirements. */
  readonly wanting: Member[];
  /** They select no object with the label. */
  readonly refusing: Member[];
}

interface NamingKey extends Naming {
  readonly values: Map<string, Naming>;
}

const naming = (): Naming => ({ wanting: [], refusing: [] });

/**
 * Finds the selectors that select an object. As upstream, NotIn and DoesNotExist also match where the label is absent. Only selectors that name a
 * label of the object are visited, so the cost does not depend on the number of other selectors.
 */
export class SelectorIndex {
  readonly #byKey = new Map<string, NamingKey>();
  readonly #wantingNothing: Positions;
  readonly #selecting: Positions;

  constructor(selectors: readonly LabelSelector[]) {
    this.#wantingNothing = new Positions(selectors.length);
    this.#selecting = new Positions(selectors.length);
    selectors.forEach((selector, at) => this.#add(selector, { at, wanted: 0, met: 0 }));
  }

  /** Returns the positions of the selectors that select an object with these labels. The next call overwrites them. */
  select(labels: Labels): Positions {
    const selecting = this.#selecting;
    const named = this.#naming(labels);
    selecting.become(this.#wantingNothing);
    for (const { wanting } of named)
      for (const member of wanting) if (++member.met === member.wanted) selecting.add(member.at);
    for (const { wanting, refusing } of named) {
      for (const { at } of refusing) selecting.delete(at);
      for (const member of wanting) member.met = 0;
    }
    return selecting;
  }

  #naming(labels: Labels): readonly Naming[] {
    const found: Naming[] = [];
    for (const [key, value] of Object.entries(labels)) {
      const ofKey = this.#byKey.get(key);
      if (ofKey === undefined) continue;
      found.push(ofKey);
      const ofValue = ofKey.values.get(value);
      if (ofValue !== undefined) found.push(ofValue);
    }
    return found;
  }

  #add({ matchLabels, matchExpressions }: LabelSelector, member: Member): void {
    const labels = Object.entries(matchLabels);
    for (const [key, value] of labels) this.#valueOf(key, value).wanting.push(member);
    const wanting = matchExpressions.filter((expression) => this.#addExpression(expression, member));
    member.wanted = labels.length + wanting.length;
    if (member.wanted === 0) this.#wantingNothing.add(member.at);
  }

  /** Returns whether a label must meet the requirement; the others are also met if the label is absent. */
  #addExpression({ key, operator, values }: LabelExpression, member: Member): boolean {
    // A duplicate value counts once.
    const named = new Set(values);
    switch (operator) {
      case 'In':
        for (const value of named) this.#valueOf(key, value).wanting.push(member);
        return true;
      case 'NotIn':
        for (const value of named) this.#valueOf(key, value).refusing.push(member);
        return false;
      case 'Exists':
        this.#keyOf(key).wanting.push(member);
        return true;
      case 'DoesNotExist':
        this.#keyOf(key).refusing.push(member);
        return false;
    }
  }

  #keyOf(key: string): NamingKey {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const made = { ...naming(), values: new Map<string, Naming>() };
    this.#byKey.set(key, made);
    return made;
  }

  #valueOf(key: string, value: string): Naming {
    const { values } = this.#keyOf(key);
    const known = values.get(value);
    if (known !== undefined) return known;
    const made = naming();
    values.set(value, made);
    return made;
  }
}

const bitsPerWord = 32;
const bytesPerWord = 4;

/** A set of positions in a list, one bit each. */
export class Positions {
  readonly #bytes: Uint8Array;
  readonly #words: DataView;

  constructor(length: number) {
    this.#bytes = new Uint8Array(Math.ceil(length / bitsPerWord) * bytesPerWord);
    this.#words = new DataView(this.#bytes.buffer);
  }

  add(at: number): void {
    const word = wordOf(at);
    this.#words.setUint32(word, this.#words.getUint32(word) | bitOf(at));
  }

  delete(at: number): void {
    const word = wordOf(at);
    this.#words.setUint32(word, this.#words.getUint32(word) & ~bitOf(at));
  }

  /** Copies the positions of another set of the same list. */
  become(other: Positions): void {
    this.#bytes.set(other.#bytes);
  }

  copy(): Positions {
    const made = new Positions(this.#bytes.length * 8);
    made.become(this);
    return made;
  }

  /** The first position that is also in `other`; -1 = none. */
  firstIn(other: Positions): number {
    for (let word = 0; word < this.#bytes.length; word += bytesPerWord) {
      const both = this.#words.getUint32(word) & other.#words.getUint32(word);
      if (both !== 0) return word * 8 + (bitsPerWord - 1 - Math.clz32(both & -both));
    }
    return -1;
  }
}

const wordOf = (at: number): number => Math.floor(at / bitsPerWord) * bytesPerWord;
const bitOf = (at: number): number => 1 << (at % bitsPerWord);
