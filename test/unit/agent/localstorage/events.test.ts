import { expect, test } from 'vitest';
import { localStorageHigh } from '../../../../src/agent/localstorage/events.ts';
import { storageWarning } from '../report/builders.ts';

const mib = 1024 ** 2;

test.each([
  { growth: undefined, left: undefined, evicts: false, says: 'No growth is seen so far.' },
  {
    ...{ growth: undefined, left: undefined, evicts: true },
    says: 'No growth is seen so far; its eviction is requested when it exceeds the limit.',
  },
  { growth: mib, left: 0, evicts: false, says: 'It exceeds the limit.' },
  { growth: mib, left: 0, evicts: true, says: 'It exceeds the limit: its eviction is requested.' },
  {
    ...{ growth: mib, left: 62, evicts: false },
    says: 'It grows by 1.00 MiB a minute: about 1m are left until it exceeds the limit.',
  },
  {
    ...{ growth: mib, left: 62, evicts: true },
    says: 'It grows by 1.00 MiB a minute: about 1m are left until it exceeds the limit, and its eviction is requested.',
  },
  {
    ...{ growth: mib, left: 1_000, evicts: false },
    says: 'It grows by 1.00 MiB a minute: about 17m are left until it exceeds the limit.',
  },
  {
    ...{ growth: mib, left: 10_000, evicts: false },
    says: 'It grows by 1.00 MiB a minute: about 3h are left until it exceeds the limit.',
  },
  {
    growth: mib,
    left: 1,
    evicts: false,
    says: 'It grows by 1.00 MiB a minute: about 10s are left until it exceeds the limit.',
  },
])('with $left s left, growing by $growth, evicted: $evicts', ({ growth, left, evicts, says }) => {
  const warning = { ...storageWarning('a'), growthBytesPerMinute: growth, secondsLeft: left };
  const { note } = localStorageHigh(warning, { evictAtPercent: 100, evicts });
  expect(note).toBe(`Usage of EmptyDir volume "tmp" is 81 B, 81 % of the limit 100. ${says}`);
});

test('below the limit it tells the part of it that evicts', () => {
  const { note, occasion } = localStorageHigh(
    { ...storageWarning('a'), secondsLeft: 0 },
    { evictAtPercent: 90, evicts: true },
  );
  expect(note).toContain('It exceeds 90 % of the limit: its eviction is requested.');
  expect(occasion).toBe('emptydirfs.limit/tmp/80');
});

test('a pod as a whole has no subject', () => {
  const { excess, ...warning } = storageWarning('a');
  const whole = { ...excess, signal: 'ephemeralpodfs.limit', subject: undefined } as const;
  expect(
    localStorageHigh({ ...warning, excess: whole }, { evictAtPercent: 100, evicts: true }).occasion,
  ).toBe('ephemeralpodfs.limit//80');
});
