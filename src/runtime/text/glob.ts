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
    if (end < head.length || !isAt(text, head, 0) || !isAt(text, tail, end)) return false;
    let at = head.length;
    for (const search of searches) {
      at = search(text, at);
      if (at < 0) return false;
    }
    return at <= end;
  };
}

/** Whether `text` has `part` at this index. */
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

const bitsAWord = 32;

/**
 * The Shift-And algorithm: bit i of the state says that the text read so far ends with the first i + 1 characters of the part, where `?` is any
 * character. One step for each character of the text and 32 characters of the part.
 */
function shiftAnd(part: string): Search {
  const words = Math.ceil(part.length / bitsAWord);
  const maskOf = (character: string | undefined): Int32Array => {
    const mask = new Int32Array(words);
    for (let i = 0; i < part.length; i += 1)
      if (part[i] === '?' || part[i] === character) mask[i >> 5] = (mask[i >> 5] ?? 0) | (1 << (i & 31));
    return mask;
  };
  const masks = new Map([...new Set(part.replaceAll('?', ''))].map((one) => [one, maskOf(one)]));
  const other = maskOf(undefined);
  const last = part.length - 1;
  const state = new Int32Array(words);
  return (text, from) => {
    state.fill(0);
    for (let at = from; at < text.length; at += 1) {
      const mask = masks.get(text[at] ?? '') ?? other;
      let carry = 1;
      for (let word = 0; word < words; word += 1) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (mask[word] ?? 0);
        carry = before >>> 31;
      }
      if (((state[last >> 5] ?? 0) >>> (last & 31)) & 1) return at + 1;
    }
    return -1;
  };
}
