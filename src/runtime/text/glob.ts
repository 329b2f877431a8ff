/** Matches whole texts against a pattern: `*` is any text, `?` one character. The time grows with the length of the text, whatever the pattern. */
export function globMatcher(pattern: string): (text: string) => boolean {
  if (/^\*+$/.test(pattern)) return () => true;
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  const parts = pattern.split('*');
  const [head = '', tail = ''] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return (text) => text.length === head.length && isAt(text, head, 0);
  const searches = parts
    .slice(1, -1)
    .filter((part) => part !== '')
    .map(searchFor);
  return (text) => {
    const end = text.length - tail.length;
    if (!isAt(text, head, 0) || !isAt(text, tail, end)) return false;
    let at = head.length;
    for (const search of searches) {
      at = search(text, at);
      if (at < 0) return false;
    }
    return at <= end;
  };
}

function isAt(text: string, part: string, index: number): boolean {
  for (let i = 0; i < part.length; i += 1) if (part[i] !== '?' && part[i] !== text[index + i]) return false;
  return true;
}

/** Returns where the first occurrence of a part ends, from an index on; -1 = there is none. */
type Search = (text: string, from: number) => number;

/** The earliest occurrence of each part leaves the most text for the later ones. */
function searchFor(part: string): Search {
  if (part.includes('?')) return shiftAnd(part);
  return (text, from) => {
    const found = text.indexOf(part, from);
    return found < 0 ? -1 : found + part.length;
  };
}

/**
 * The Shift-And algorithm: bit i of the state says that the text read so far ends with the first i + 1 characters of the part, where `?` is any
 * character. One step for each character of the text.
 */
function shiftAnd(part: string): Search {
  const maskOf = (character: string | undefined): bigint =>
    part
      .split('')
      .reduceRight((mask, one) => (mask << 1n) | (one === '?' || one === character ? 1n : 0n), 0n);
  const masks = new Map(part.split('').map((one) => [one, maskOf(one)]));
  const other = maskOf(undefined);
  const last = BigInt(part.length - 1);
  return (text, from) => {
    let state = 0n;
    for (let at = from; at < text.length; at += 1) {
      state = ((state << 1n) | 1n) & (masks.get(text.charAt(at)) ?? other);
      if (state >> last !== 0n) return at + 1;
    }
    return -1;
  };
}
