import { expect, test } from 'vitest';
import { minutesAgo } from '../../../builders.ts';
import { container, overVolume, planOf, scratch, type PlanRow } from './builders.ts';

const linesOf = (row: PlanRow): string[] =>
  planOf(row).warnings.map(
    ({ reason, evidence: { excess, percent } }) => `${reason} ${excess.subject ?? '-'} ${percent}`,
  );

test.each<PlanRow & { readonly name: string } & { readonly expected: readonly string[] }>([
  { name: 'below the lowest level', storage: scratch, used: { volumes: { tmp: 79 } }, expected: [] },
  { name: 'exactly at it', storage: scratch, used: { volumes: { tmp: 80 } }, expected: [] },
  {
    name: 'above it',
    storage: scratch,
    used: { volumes: { tmp: 81 } },
    expected: ['emptydirfs.limit tmp 80'],
  },
  {
    name: 'the highest level that is exceeded',
    storage: scratch,
    used: { volumes: { tmp: 96 } },
    expected: ['emptydirfs.limit tmp 95'],
  },
  {
    name: 'a pod that is to be evicted is warned about too: a budget may hold it',
    storage: scratch,
    used: overVolume,
    expected: ['emptydirfs.limit tmp 95'],
  },
  {
    name: 'each limit has its own',
    storage: { ...scratch, containers: [container('main', '100Mi')] },
    used: { volumes: { tmp: 85 }, total: 97, containers: { main: { logs: 81 } } },
    expected: ['emptydirfs.limit tmp 80', 'ephemeralpodfs.limit - 95', 'ephemeralcontainerfs.limit main 80'],
  },
  {
    name: 'a critical pod is warned about',
    storage: scratch,
    pod: { priority: 2_000_001_000 },
    used: overVolume,
    expected: ['emptydirfs.limit tmp 95'],
  },
  {
    name: 'a marked one is left alone',
    storage: scratch,
    pod: { keepMarked: true },
    used: overVolume,
    expected: [],
  },
  {
    name: 'a finished one too',
    storage: scratch,
    pod: { phase: 'Failed' },
    used: overVolume,
    expected: [],
  },
  {
    name: 'one that goes already too',
    storage: scratch,
    pod: { deletionAtMs: minutesAgo(1) },
    used: overVolume,
    expected: [],
  },
  {
    name: 'no levels, no warnings',
    storage: scratch,
    used: overVolume,
    policy: { warnAtPercent: [] },
    expected: [],
  },
  {
    name: 'an old figure warns of nothing',
    storage: scratch,
    used: { ...overVolume, atMs: minutesAgo(6) },
    staleAfterMs: 5 * 60_000,
    expected: [],
  },
  {
    name: 'of a limit of 0 all levels are exceeded by anything',
    storage: { containers: [container('main', '0')] },
    used: { total: 1 },
    expected: ['ephemeralpodfs.limit - 95'],
  },
])('$name', ({ expected, ...row }) => {
  expect(linesOf(row)).toEqual(expected);
});
