import { describe, expect, test } from 'vitest';
import { upstreamReason as imageWords } from '../../../src/agent/imagegc/metrics.ts';
import { evictionSignals } from '../../../src/api/local-storage.ts';
import { diskSignals } from '../../../src/api/node-pressure.ts';
import {
  containerKeepReasons,
  containerRemoveReasons,
  evictionKeepReasons,
  imageKeepReasons,
  imageRemoveReasons,
  nodeKeepReasons,
  podDeleteReasons,
  podKeepReasons,
  pressureKeepReasons,
  storageKeepReasons,
} from '../../../src/api/reasons.ts';
import { evictionReasons } from '../../../src/gc/reasons/evictions.ts';
import { containerReasons } from '../../../src/gc/reasons/containers.ts';
import { imageReasons } from '../../../src/agent/imagegc/words.ts';
import { pressureReasons } from '../../../src/gc/reasons/pressure.ts';
import { storageReasons } from '../../../src/gc/reasons/storage.ts';
import { podReasons } from '../../../src/controllers/podgc/words.ts';
import { upstreamReason as podWords } from '../../../src/controllers/podgc/metrics.ts';
import { firstCells, partOf, referencePage } from './page.ts';

const page = referencePage('reasons.md');
const units = [
  {
    heading: 'Pods (podgc)',
    ...{ verdict: 'Delete', acts: podDeleteReasons, keeps: podKeepReasons, meanings: podReasons },
  },
  {
    heading: 'Images (imagegc)',
    ...{
      verdict: 'Remove',
      acts: imageRemoveReasons,
      keeps: [...imageKeepReasons, ...nodeKeepReasons],
    },
    meanings: imageReasons,
  },
  {
    heading: 'Containers, sandboxes and logs (containergc)',
    ...{
      verdict: 'Remove',
      acts: containerRemoveReasons,
      keeps: [...containerKeepReasons, ...nodeKeepReasons],
    },
    meanings: containerReasons,
  },
  {
    heading: 'Pods on their nodes (localstorage)',
    ...{ verdict: 'Evict', acts: evictionSignals },
    keeps: [...new Set([...storageKeepReasons, ...nodeKeepReasons])],
    meanings: storageReasons,
  },
  {
    heading: 'Pods of nodes under pressure (nodepressure)',
    ...{ verdict: 'Evict', acts: diskSignals },
    keeps: [...new Set([...pressureKeepReasons, ...nodeKeepReasons])],
    meanings: pressureReasons,
  },
];

describe.each(units)('$heading', ({ heading, verdict, acts, keeps, meanings }) => {
  test('the page has every reason to act', () => {
    expect(firstCells(partOf(page, heading), `${verdict}, because`)).toEqual([...acts]);
  });

  test('the page has every reason to keep', () => {
    expect(firstCells(partOf(page, heading), 'Keep, because')).toEqual([...keeps]);
  });

  test('every meaning belongs to an existing reason', () => {
    expect(Object.keys(meanings).sort()).toEqual([...acts, ...keeps].sort());
  });

  test.each(Object.entries<{ readonly meaning: string; readonly change: string }>(meanings))(
    '%s has one sentence and a change',
    (reason, meaning) => {
      expect(meaning.meaning).toMatch(/^[A-Z][^]*\.$/);
      expect(meaning.meaning).not.toMatch(/\. /);
      expect(meaning.change).toMatch(/^[A-Za-z][^]*\.$/);
      const line = partOf(page, heading)
        .split('\n')
        .find((row) => row.startsWith(`| \`${reason}\` |`));
      expect(line).toBe(`| \`${reason}\` | ${meaning.meaning} | ${meaning.change} |`);
    },
  );
});

test.each(evictionKeepReasons)('the page has the reason %s not to evict', (reason) => {
  const { meaning, change } = evictionReasons[reason];
  expect(firstCells(page, 'Not evicted, because')).toEqual([...evictionKeepReasons]);
  expect(page).toContain(`| \`${reason}\` | ${meaning} | ${change} |\n`);
});

test.each(Object.entries({ ...podWords, ...imageWords }))(
  "%s is %s in upstream's metrics",
  (reason, word) => {
    const rows = partOf(page, "Reasons in upstream's words").split('\n');
    const row = rows.find((line) => line.startsWith(`| \`${reason}\` |`));
    expect(row).toContain(`reason="${word}"`);
  },
);
