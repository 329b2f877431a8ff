/**
 * Matches whole texts against a pattern in which `*` stands for any text and `?` for one character.
 * Never takes more than pattern × text steps, whatever the pattern.
 */
export function globMatcher(pattern: string): (text: string) => boolean {
  if (/^\*+$/.test(pattern)) return () => true;
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  return pattern.includes('?') ? (text) => matchesGlob(pattern, text) : literalMatcher(pattern);
}

/** Without `?` what stands between the stars is searched for, one after the other: as fast as `includes`. */
function literalMatcher(pattern: string): (text: string) => boolean {
  const head = pattern.slice(0, pattern.indexOf('*'));
  const tail = pattern.slice(pattern.lastIndexOf('*') + 1);
  const between = pattern
    .split('*')
    .slice(1, -1)
    .filter((part) => part !== '');
  return (text) => {
    if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail))
      return false;
    let at = head.length;
    for (const part of between) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= text.length - tail.length;
  };
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
