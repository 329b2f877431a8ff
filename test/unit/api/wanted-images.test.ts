import { describe, expect, test } from 'vitest';
import {
  formatWantedList,
  hasAllFor,
  parseWantedList,
  wantedOn,
  type WantedList,
} from '../../../src/api/wanted-images.ts';
import { now } from '../../builders.ts';

const list = (over: Partial<WantedList> = {}): WantedList => ({
  listedAtMs: now.getTime(),
  images: [
    { image: 'everywhere:1', workload: 'CronJob batch/report', nodeSelector: {} },
    { image: 'gpu:1', workload: 'DaemonSet kube-system/gpu', nodeSelector: { gpu: 'yes', zone: 'a' } },
  ],
  omitted: 0,
  ...over,
});

test.each<[name: string, labels: Record<string, string> | undefined, expected: readonly string[]]>([
  ['a node without labels', {}, ['everywhere:1']],
  ['a node with one of two labels', { gpu: 'yes' }, ['everywhere:1']],
  ['a node with another value', { gpu: 'no', zone: 'a' }, ['everywhere:1']],
  ['a node with all labels', { gpu: 'yes', zone: 'a', more: '' }, ['everywhere:1', 'gpu:1']],
  ['a node whose labels are not known', undefined, ['everywhere:1', 'gpu:1']],
])('the images that count for %s', (_, labels, expected) => {
  const { images, unknownBecause } = wantedOn(list(), labels, now);
  expect(images.map(({ image }) => image)).toEqual(expected);
  expect(unknownBecause).toBeUndefined();
});

test.each<[name: string, live: Record<string, string> | undefined, hasAll: boolean]>([
  ['a label that selects no workload', { gpu: 'yes', more: '' }, true],
  ['the label that a workload of other nodes needs', { gpu: 'yes', zone: 'a' }, false],
  ['no node', undefined, false],
])('whether the images of a node are all that are wanted there, with %s', (_, live, hasAll) => {
  expect(hasAllFor(live, wantedOn(list(), { gpu: 'yes' }, now))).toBe(hasAll);
  // Those that are not wanted any more do no harm.
  expect(hasAllFor(live, wantedOn(list(), { gpu: 'yes', zone: 'a' }, now))).toBe(true);
  expect(hasAllFor(live, undefined)).toBe(false);
});

test.each<[name: string, reading: WantedList | string, images: number, because: string]>([
  ['it was not read', 'no such ConfigMap', 0, 'no such ConfigMap'],
  ['it has no room for all', list({ omitted: 7 }), 2, 'no room for 7'],
  ['it is too old', list({ listedAtMs: now.getTime() - 45 * 60_000 - 1 }), 2, '45 minutes'],
  ['it is of a clock that is wrong', list({ listedAtMs: now.getTime() + 45 * 60_000 + 1 }), 2, '45 minutes'],
])('others may be wanted, because %s', (_, reading, images, because) => {
  const wanted = wantedOn(reading, { gpu: 'yes', zone: 'a' }, now);
  expect(wanted.images).toHaveLength(images);
  expect(wanted.unknownBecause).toContain(because);
});

test('a list of 45 minutes, or of a clock that is ahead, is current', () => {
  for (const minutes of [15, 45, -15]) {
    const listedAtMs = now.getTime() - minutes * 60_000;
    expect(wantedOn(list({ listedAtMs }), {}, now).unknownBecause).toBeUndefined();
  }
});

describe('the text of a list', () => {
  test('has all of it', () => {
    expect(parseWantedList(formatWantedList(list({ omitted: 1 })))).toEqual(list({ omitted: 1 }));
  });

  const [first] = list().images;
  test.each<[name: string, text: string]>([
    ['is empty', ''],
    ['is cut off', formatWantedList(list()).slice(0, -9)],
    ['is no object', '[]'],
    ['has no time', JSON.stringify({ ...list(), listedAtMs: undefined })],
    ['does not say what is left out', JSON.stringify({ ...list(), omitted: undefined })],
    ['has no images', JSON.stringify({ ...list(), images: {} })],
    ['has an image that is a text', JSON.stringify({ ...list(), images: ['web'] })],
    ['has an image without a name', JSON.stringify({ ...list(), images: [{ ...first, image: 1 }] })],
    ['has an image without a workload', JSON.stringify({ ...list(), images: [{ ...first, workload: 1 }] })],
    ['has no selector', JSON.stringify({ ...list(), images: [{ ...first, nodeSelector: 'all' }] })],
    [
      'has a selector of a later version',
      JSON.stringify({ ...list(), images: [{ ...first, nodeSelector: { zone: ['a'] } }] }),
    ],
  ])('is no list if it %s', (_, text) => {
    expect(parseWantedList(text)).toBeUndefined();
  });
});
