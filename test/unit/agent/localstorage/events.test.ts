import { expect, test } from 'vitest';
import { localStorageHigh } from '../../../../src/agent/localstorage/events.ts';
import { storageWarning } from '../report/builders.ts';
import { mib } from './builders.ts';

const grows = 'It grows by 1.00 MiB a minute: about';
const prospectOf = (
  over: Partial<ReturnType<typeof storageWarning>>,
  evicts: boolean,
  evictAtPercent = 100,
): string | undefined => {
  const warning = storageWarning('a');
  const { note } = localStorageHigh(
    { ...warning, excess: { ...warning.excess, evictAtPercent }, ...over },
    { uid: 'uid-a', evicts },
  );
  const usage = 'Usage of EmptyDir volume "tmp" is 81 B, 81 % of the limit 100. ';
  return note.startsWith(usage) ? note.slice(usage.length) : undefined;
};

test.each([
  { left: 62, text: `${grows} 1m are left until it exceeds the limit.` },
  { left: 1_000, text: `${grows} 17m are left until it exceeds the limit.` },
  { left: 10_000, text: `${grows} 3h are left until it exceeds the limit.` },
  { left: 1, text: `${grows} 10s are left until it exceeds the limit.` },
  { left: 0, text: 'It exceeds the limit.' },
])('$left s left: $text', ({ left, text }) => {
  expect(prospectOf({ growthBytesPerMinute: mib, secondsLeft: left }, false)).toBe(text);
});

test.each([
  { left: 0, text: 'It exceeds the limit, so the agent requests its eviction.' },
  { left: 62, text: `${grows} 1m are left until it exceeds the limit and the agent requests its eviction.` },
])('$left s left before an eviction: $text', ({ left, text }) => {
  expect(prospectOf({ growthBytesPerMinute: mib, secondsLeft: left }, true)).toBe(text);
});

test('without growth', () => {
  expect(prospectOf({}, false)).toBe('No growth observed so far.');
  expect(prospectOf({}, true)).toBe(
    'No growth observed so far; the agent requests its eviction when it exceeds the limit.',
  );
});

test('an eviction below the limit is announced with its percentage', () => {
  expect(prospectOf({ secondsLeft: 0 }, true, 90)).toBe(
    'It exceeds 90 % of the limit, so the agent requests its eviction.',
  );
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
