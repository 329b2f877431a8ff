/** The candidate most similar to `word`, if a typing mistake explains the difference; else the first that begins with it. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const similar = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .filter(({ edits }) => edits <= limit)
    .toSorted((a, b) => a.edits - b.edits)[0]?.candidate;
  const begins = (candidate: string): boolean => candidate.toLowerCase().startsWith(word.toLowerCase());
  return similar ?? (word.length < minBeginning ? undefined : candidates.find(begins));
}

/** A shorter text begins many names. */
const minBeginning = 3;

/** Letters to insert, remove or replace, and neighbours to swap. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  const isSwap = (i: number, j: number): boolean =>
    i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = isSwap(i, j) ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}

const maxNames = 3;

/** Returns the end of a message about an unknown name: the known names most similar to it, or ''. */
export function nearestNames(name: string, known: readonly string[]): string {
  const guesses: string[] = [];
  while (guesses.length < maxNames) {
    const guess = nearest(
      name,
      known.filter((one) => !guesses.includes(one)),
    );
    if (guess === undefined) break;
    guesses.push(guess);
  }
  return guesses.length === 0 ? '' : `; did you mean ${guesses.join(' or ')}?`;
}
