import { describe, expect, test } from 'vitest';
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
import { evictionReasons } from '../../../src/controllers/eviction/words.ts';
import { firstCells, partOf, referencePage } from './page.ts';

const page = referencePage('reasons.md');
const units = [
  {
    heading: 'Pods (podgc)',
    ...{ verdict: 'Delete', acts: podDeleteReasons, keeps: podKeepReasons },
  },
  {
    heading: 'Images (imagegc)',
    ...{
      verdict: 'Remove',
      acts: imageRemoveReasons,
      keeps: [...imageKeepReasons, ...nodeKeepReasons],
    },
  },
  {
    heading: 'Containers, sandboxes and logs (containergc)',
    ...{
      verdict: 'Remove',
      acts: containerRemoveReasons,
      keeps: [...containerKeepReasons, ...nodeKeepReasons],
    },
  },
  {
    heading: 'Pods on their nodes (localstorage)',
    ...{ verdict: 'Evict', acts: evictionSignals },
    keeps: [...new Set([...storageKeepReasons, ...nodeKeepReasons])],
  },
  {
    heading: 'Pods of nodes under pressure (nodepressure)',
    ...{ verdict: 'Evict', acts: diskSignals },
    keeps: [...new Set([...pressureKeepReasons, ...nodeKeepReasons])],
  },
];

describe.each(units)('$heading', ({ heading, verdict, acts, keeps }) => {
  test('the page has every reason to act', () => {
    expect(firstCells(partOf(page, heading), `${verdict}, because`)).toEqual([...acts]);
  });

  test('the page has every reason to keep', () => {
    expect(firstCells(partOf(page, heading), 'Keep, because')).toEqual([...keeps]);
  });
});

test.each(evictionKeepReasons)('the page has the reason %s not to evict', (reason) => {
  const { meaning, change } = evictionReasons[reason];
  expect(firstCells(page, 'Not evicted, because')).toEqual([...evictionKeepReasons]);
  expect(page).toContain(`| \`${reason}\` | ${meaning} | ${change} |\n`);
});
