import { expect, test } from 'vitest';
import { minutesAgo } from '../../../builders.ts';
import { container, overVolume, planOf, scratch, type PlanRow } from './builders.ts';

const tmp80 = 'emptydirfs.limit tmp 80';
const tmp95 = 'emptydirfs.limit tmp 95';

test.each<PlanRow & { readonly name: string; readonly expected: readonly string[] }>([
  {
    name: 'one for each limit',
    storage: { ...scratch, containers: [container('main', '100Mi')] },
    used: { volumes: { tmp: 85 }, total: 97, containers: { main: { logs: 81 } } },
    expected: [tmp80, 'ephemeralpodfs.limit - 95', 'ephemeralcontainerfs.limit main 80'],
  },
  { name: 'a critical pod', pod: { priority: 2_000_001_000 }, used: overVolume, expected: [tmp95] },
  { name: 'none for a pod with the keep label', pod: { isOptedOut: true }, used: overVolume, expected: [] },
  { name: 'none for a finished pod', pod: { phase: 'Failed' }, used: overVolume, expected: [] },
  { name: 'none for a deleted pod', pod: { deletionAtMs: minutesAgo(1) }, used: overVolume, expected: [] },
  {
    name: 'none by a stale measurement',
    used: { ...overVolume, atMs: minutesAgo(6) },
    staleAfterMs: 5 * 60_000,
    expected: [],
  },
  {
    name: 'any usage of a limit of 0',
    storage: { containers: [container('main', '0')] },
    used: { total: 1 },
    expected: ['ephemeralpodfs.limit - 95'],
  },
])('warnings: $name', ({ expected, storage = scratch, ...row }) => {
  const lines = planOf({ ...row, storage }).warnings.map(
    ({ reason, target: { excess, percent } }) => `${reason} ${excess.subject ?? '-'} ${percent}`,
  );
  expect(lines).toEqual(expected);
});
