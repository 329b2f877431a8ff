import { expect, test } from 'vitest';
import type { EvictionSignal } from '../../../src/api/local-storage.ts';
import { evictionMessage, limitOfBytes, usageClause } from '../../../src/gc/reasons/storage-words.ts';

const mib = 1024 ** 2;

test.each<{
  readonly signal: EvictionSignal;
  readonly subject?: string;
  readonly used: number;
  readonly limit: number;
  readonly percent?: number;
  readonly message: string;
}>([
  {
    ...{ signal: 'emptydirfs.limit', subject: 'tmp', used: 130 * mib, limit: 100 * mib },
    message:
      'Usage of EmptyDir volume "tmp" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi.',
  },
  {
    ...{ signal: 'ephemeralpodfs.limit', used: 1.5 * 1024 * mib, limit: 1024 * mib },
    message:
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. It uses 1.50 GiB, 150 % of the limit 1Gi.',
  },
  {
    ...{ signal: 'ephemeralcontainerfs.limit', subject: 'main', used: 10 * mib + 1, limit: 10 * mib },
    message:
      'Container main exceeded its local ephemeral storage limit "10Mi". It uses 10.0 MiB, 100 % of the limit 10Mi.',
  },
  {
    ...{ signal: 'ephemeralpodfs.limit', used: 1, limit: 0 },
    message:
      'Pod ephemeral local storage usage exceeds the total limit of containers 0. It uses 1 B, with the limit 0.',
  },
  {
    ...{ signal: 'emptydirfs.limit', subject: 'tmp', used: 91 * mib, limit: 100 * mib, percent: 90 },
    message:
      'Usage of EmptyDir volume "tmp" exceeds 90 % of the limit "100Mi". It uses 91.0 MiB, 91 % of the limit 100Mi.',
  },
  {
    ...{
      signal: 'ephemeralcontainerfs.limit',
      subject: 'main',
      used: 110 * mib,
      limit: 100 * mib,
      percent: 90,
    },
    message:
      'Container main exceeded its local ephemeral storage limit "100Mi". It uses 110 MiB, 110 % of the limit 100Mi.',
  },
])('$message', ({ signal, subject, used, limit, percent, message }) => {
  const excess = { signal, subject, usedBytes: used, limit: limitOfBytes(limit) };
  expect(evictionMessage(excess, percent)).toBe(message);
});

test('names a decimal limit in its shorter form', () => {
  const limit = limitOfBytes(2e9);
  expect(usageClause({ signal: 'ephemeralpodfs.limit', subject: undefined, usedBytes: 17e8, limit })).toBe(
    'Ephemeral local storage usage of the pod is 1.58 GiB, 85 % of the limit 2G',
  );
});

test.each<{ readonly signal: EvictionSignal; readonly subject?: string; readonly clause: string }>([
  { signal: 'emptydirfs.limit', subject: 'tmp', clause: 'Usage of EmptyDir volume "tmp" is' },
  { signal: 'ephemeralpodfs.limit', clause: 'Ephemeral local storage usage of the pod is' },
  {
    ...{ signal: 'ephemeralcontainerfs.limit', subject: 'main' },
    clause: 'Local ephemeral storage usage of container main is',
  },
])('names the subject of $signal', ({ signal, subject, clause }) => {
  const excess = { signal, subject, usedBytes: 85 * mib, limit: limitOfBytes(100 * mib), isDefault: false };
  expect(usageClause(excess)).toBe(`${clause} 85.0 MiB, 85 % of the limit 100Mi`);
});
