import { expect, test } from 'vitest';
import { localStorageHigh } from '../../../../src/agent/localstorage/events.ts';
import { storageWarning } from '../report/builders.ts';
import { mib } from './builders.ts';

const grows = 'It grows by 1.00 MiB a minute: about';

test.each<[secondsLeft: number | undefined, evicts: boolean, text: string, evictAtPercent?: number]>([
  [62, false, `${grows} 1m are left until it exceeds the limit.`],
  [0, false, 'It exceeds the limit.'],
  [undefined, false, 'No growth observed so far.'],
  [62, true, `${grows} 1m are left until it exceeds the limit and the agent requests its eviction.`],
  [0, true, 'It exceeds 90 % of the limit, so the agent requests its eviction.', 90],
  [undefined, true, 'No growth observed so far; the agent requests its eviction when it exceeds the limit.'],
])('%s s left, evicts is %s: %s', (secondsLeft, evicts, text, evictAtPercent = 100) => {
  const { excess, ...warning } = storageWarning('a');
  const growthBytesPerMinute = secondsLeft === undefined ? undefined : mib;
  const { note } = localStorageHigh(
    { ...warning, excess: { ...excess, evictAtPercent }, secondsLeft, growthBytesPerMinute },
    { uid: 'uid-a', evicts },
  );
  expect(note).toBe(`Usage of EmptyDir volume "tmp" is 81 B, 81 % of the limit 100. ${text}`);
});

test('each level of each limit is a warning of its own', () => {
  const consequence = { uid: 'uid-a', evicts: true };
  const { excess, ...warning } = storageWarning('a');
  const whole = { ...excess, signal: 'ephemeralpodfs.limit', subject: undefined } as const;
  expect(localStorageHigh({ ...warning, excess }, consequence).occasion).toBe('emptydirfs.limit/tmp/80');
  expect(localStorageHigh({ ...warning, excess: whole }, consequence).occasion).toBe(
    'ephemeralpodfs.limit//80',
  );
});
