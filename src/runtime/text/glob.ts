/** Matches whole texts against a pattern: `*` is any text, `?` one character. Needs at most pattern × text steps. */
export function globMatcher(pattern: string): (text: string) => boolean {
  if (/^\*+$/.test(pattern)) return () => true;
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  return pattern.includes('?') ? (text) => matchesGlob(pattern, text) : literalMatcher(pattern);
}

/** Searches the parts between the stars one after the other: as fast as `includes`. */
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
    const expected = pattern[at];
    if (expected === '*') {
      afterStar = ++at;
      resume = t;
    } else if (expected === '?' || expected === text[t]) {
      at++;
      t++;
    } else {
      // Only the last star may need a longer match: earlier ones already have their shortest match.
      if (afterStar < 0) return false;
      at = afterStar;
      t = ++resume;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}
