import { expect, test } from 'vitest';
import { entriesOf, referencePage } from './page.ts';
import { sources } from './sources.ts';

/** The reasons in the files that create Events; the unit imagegc passes its own to a function. */
const reasons = [...sources.values()]
  .filter((text) => /\bEventSpec\b/.test(text) && /\baction: '/.test(text))
  .flatMap((text) => [...text.matchAll(/(?:\breason: |\bwarning\(\s*node,\s*)'([A-Z]\w+)'/g)])
  .map(([, reason]) => reason);

test('docs/reference/events.md describes every reason of an Event, and no other', () => {
  expect(reasons.length).toBeGreaterThan(20);
  expect(entriesOf(referencePage('events.md')).toSorted()).toEqual([...new Set(reasons)].toSorted());
});
