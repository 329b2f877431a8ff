import type { LabelExpression, LabelSelector } from './policy.ts';

type Labels = Readonly<Record<string, string>>;

/** Positions in a list, one bit each. */
export type Positions = Uint32Array;

/** The selectors that name one label, or one value of it. */
interface Naming {
  /** Positions of selectors with a requirement that this meets. */
  readonly wanting: number[];
  /** Positions of selectors that do not select an object with this. */
  readonly refusing: number[];
}

interface NamingKey extends Naming {
  readonly values: Map<string, Naming>;
}

const bitsPerWord = 32;
const naming = (): Naming => ({ wanting: [], refusing: [] });

/**
 * Finds which of many selectors select an object. As upstream, NotIn and DoesNotExist also match where the label is absent. It visits only the
 * selectors that name a label of the object, so that an object costs the same however many other selectors there are.
 */
export class SelectorIndex {
  readonly #byKey = new Map<string, NamingKey>();
  /** How many requirements of each selector a label has to meet. */
  readonly #wanted: Uint16Array;
  /** How many of them the object at hand meets; 0 between two calls. */
  readonly #met: Uint16Array;
  readonly #wantingNothing: Positions;
  readonly #selecting: Positions;

  constructor(selectors: readonly LabelSelector[]) {
    this.#wanted = new Uint16Array(selectors.length);
    this.#met = new Uint16Array(selectors.length);
    this.#wantingNothing = noPositions(selectors.length);
    this.#selecting = noPositions(selectors.length);
    selectors.forEach((selector, at) => {
      this.#add(selector, at);
    });
  }

  /** The positions of the selectors that select an object with these labels; the next call overwrites them. */
  select(labels: Labels): Positions {
    const [selecting, met] = [this.#selecting, this.#met];
    const named = this.#naming(labels);
    selecting.set(this.#wantingNothing);
    for (const { wanting } of named)
      for (const at of wanting) {
        const count = (met[at] ?? 0) + 1;
        met[at] = count;
        if (count === this.#wanted[at]) include(selecting, at);
      }
    for (const { wanting, refusing } of named) {
      for (const at of refusing) exclude(selecting, at);
      for (const at of wanting) met[at] = 0;
    }
    return selecting;
  }

  #naming(labels: Labels): readonly Naming[] {
    const found: Naming[] = [];
    for (const key of Object.keys(labels)) {
      const ofKey = this.#byKey.get(key);
      if (ofKey === undefined) continue;
      found.push(ofKey);
      const ofValue = ofKey.values.get(labels[key] ?? '');
      if (ofValue !== undefined) found.push(ofValue);
    }
    return found;
  }

  #add({ matchLabels, matchExpressions }: LabelSelector, at: number): void {
    const labels = Object.entries(matchLabels);
    for (const [key, value] of labels) this.#valueOf(key, value).wanting.push(at);
    const wanting = matchExpressions.filter((expression) => this.#addExpression(expression, at));
    const wanted = labels.length + wanting.length;
    this.#wanted[at] = wanted;
    if (wanted === 0) include(this.#wantingNothing, at);
  }

  /** Whether a label has to meet it; the others are met where the label is absent. */
  #addExpression({ key, operator, values }: LabelExpression, at: number): boolean {
    // A value that is given twice is met once.
    const named = new Set(values);
    switch (operator) {
      case 'In':
        for (const value of named) this.#valueOf(key, value).wanting.push(at);
        return true;
      case 'NotIn':
        for (const value of named) this.#valueOf(key, value).refusing.push(at);
        return false;
      case 'Exists':
        this.#keyOf(key).wanting.push(at);
        return true;
      case 'DoesNotExist':
        this.#keyOf(key).refusing.push(at);
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

const noPositions = (length: number): Positions => new Uint32Array(Math.ceil(length / bitsPerWord));

function include(positions: Positions, at: number): void {
  const word = Math.floor(at / bitsPerWord);
  positions[word] = (positions[word] ?? 0) | (1 << (at % bitsPerWord));
}

/** Takes a position out, in place. */
export function exclude(positions: Positions, at: number): void {
  const word = Math.floor(at / bitsPerWord);
  positions[word] = (positions[word] ?? 0) & ~(1 << (at % bitsPerWord));
}

/** The first position that is in both. */
export function firstOfBoth(a: Positions, b: Positions): number | undefined {
  for (const [word, bits] of a.entries()) {
    const both = bits & (b[word] ?? 0);
    if (both !== 0) return word * bitsPerWord + (bitsPerWord - 1 - Math.clz32(both & -both));
  }
  return undefined;
}
