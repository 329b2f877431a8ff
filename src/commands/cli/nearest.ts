import { nearest } from '../../runtime/text/nearest.ts';

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
