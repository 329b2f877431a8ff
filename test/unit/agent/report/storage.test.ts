import { expect, test } from 'vitest';
import type { StorageInventory } from '../../../../src/api/local-storage.ts';
import { isWorthWriting } from '../../../../src/agent/report/change.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, policy } from '../../../builders.ts';
import { evictionRequest, expectStorable, facts, offender, storageWarning } from './builders.ts';

const { uid, generation } = policy();
const nothing: StorageInventory = {
  policy: { uid, generation },
  warnings: [],
  evictionRequests: [],
  offenders: [],
};
const planned = (storage: StorageInventory | undefined) => {
  const status = planReport(facts({ storage }), undefined, now);
  expectStorable(status);
  return status;
};
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`);

test('warnings and requests have all known fields', () => {
  const status = planned({
    ...nothing,
    warnings: [storageWarning('a')],
    evictionRequests: [
      evictionRequest('b', { gracePeriodSeconds: 7, subject: 'main' }),
      evictionRequest('c'),
    ],
  });
  expect(status.storageWarnings).toEqual([
    {
      pod: { namespace: 'web', name: 'a', uid: 'uid-a' },
      ...{ signal: 'emptydirfs.limit', subject: 'tmp', observedBytes: 81, limitBytes: 100 },
      ...{ percent: 80, since: '2026-01-15T11:57:00Z' },
    },
  ]);
  const request = {
    ...{ signal: 'ephemeralpodfs.limit', observedBytes: 150, limitBytes: 100 },
    observedTime: '2026-01-15T12:00:00Z',
  };
  expect(status.evictionRequests).toEqual([
    {
      pod: { namespace: 'web', name: 'b', uid: 'uid-b' },
      ...request,
      subject: 'main',
      gracePeriodSeconds: 7,
    },
    { pod: { namespace: 'web', name: 'c', uid: 'uid-c' }, ...request },
  ]);
});

test.each([
  { name: 'an older generation', policy: { uid, generation: generation - 1 } },
  { name: 'another policy', policy: { uid: 'other', generation } },
])('requests that were decided by $name are left out', ({ policy: followed }) => {
  const storage = { ...nothing, policy: followed, warnings: [storageWarning('a')] };
  const status = planned({ ...storage, evictionRequests: [evictionRequest('b')] });
  expect([status.evictionRequestCount, status.evictionRequests]).toEqual([0, []]);
  expect(status.storageWarningCount).toBe(1);
});

test('more requests than can be listed are listed page by page, and each page is written', () => {
  const storage = { ...nothing, evictionRequests: names(70).map((name) => evictionRequest(name)) };
  const at = (minutes: number) => {
    const later = new Date(now.getTime() + minutes * 60_000);
    return { later, status: planReport(facts({ storage }), undefined, later) };
  };
  const listed = [0, 5, 10].map((minutes) => at(minutes).status.evictionRequests?.map(({ pod }) => pod.name));
  expect(listed.flat().sort()).toEqual(names(70).sort());
  expect(listed[0]).toEqual(at(15).status.evictionRequests?.map(({ pod }) => pod.name));
  expect(isWorthWriting(at(4).status, at(5).status, { now: at(5).later, jitter: 0, isLast: false })).toBe(
    true,
  );
});

test('volumes are among the largest offenders', () => {
  const [kind, id, name, namespace] = ['Volume', 'u', 'a/tmp', 'web'] as const;
  const volume = offender({ kind, id, name, namespace, bytes: 9, reason: 'NoLimit' });
  expect(planned({ ...nothing, offenders: [volume] }).largestOffenders).toEqual([volume]);
});
