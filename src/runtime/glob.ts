/**
 * Matches whole texts against a pattern in which `*` stands for any text and `?` for one character.
 * Never takes more than pattern × text steps, whatever the pattern.
 */
export function globMatcher(pattern: string): (text: string) => boolean {
  if (/^\*+$/.test(pattern)) return () => true;
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  return (text) => matchesGlob(pattern, text);
}

function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let afterStar = -1;
  let resume = 0;
  for (let t = 0; t < text.length;) {
    const wanted = pattern[at];
    if (wanted === '*') {
      afterStar = ++at;
      resume = t;
    } else if (wanted === '?' || wanted === text[t]) {
      at++;
      t++;
    } else {
      // Only the last star ever needs to take more: earlier ones have already found their shortest match.
      if (afterStar < 0) return false;
      at = afterStar;
      t = ++resume;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}
