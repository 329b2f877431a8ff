import { expect, test } from 'vitest';
import type { DeclaredInitContainer, PodStorageSpec } from '../../../../src/api/local-storage.ts';
import type { DefaultLimits } from '../../../../src/api/policy/policy.ts';
import { byFullness, limitsOf } from '../../../../src/agent/localstorage/limits.ts';
import { container, emptyDir, init, mib, sidecar, spec, storagePolicy } from './builders.ts';

const { defaultLimits: noDefaults } = storagePolicy();

/** A pod whose containers have these limits. */
const pod = (
  limits: readonly (string | undefined)[],
  initContainers: readonly DeclaredInitContainer[] = [],
  overheadBytes?: number,
): PodStorageSpec =>
  spec({
    ...{ containers: limits.map((limit, i) => container(`c${i}`, limit)), initContainers },
    ...(overheadBytes !== undefined && { overheadBytes }),
  });

/** Rows of a table, with the default limits of the policy last. */
const rows = <S, E>(list: readonly (readonly [string, S, E, Partial<DefaultLimits>?])[]) =>
  list.map(([name, storage, expected, over]) => ({
    ...{ name, storage, expected },
    defaults: { ...noDefaults, ...over },
  }));

const podBytes = 50 * mib;
const overhead = 2 * mib;

const pods = rows<PodStorageSpec, string | undefined>([
  ['no container declares one', pod([undefined]), undefined],
  ['one container', pod(['200Mi']), '200Mi = 200'],
  ['the sum of the containers', pod(['200Mi', '56Mi']), '256Mi = 256'],
  ['a container without a limit counts as 0', pod(['200Mi', undefined]), '200Mi = 200'],
  ['a declared 0 is a limit', pod(['0', undefined]), '0 = 0'],
  ['a declared 0 adds nothing', pod(['0', '10Mi']), '10Mi = 10'],
  ['a larger init container', pod(['10Mi'], [init('i', '30Mi')]), '30Mi = 30'],
  ['a smaller init container', pod(['30Mi'], [init('i', '10Mi')]), '30Mi = 30'],
  [
    'the largest of several init containers',
    pod([undefined], [init('i', '10Mi'), init('j', '40Mi'), init('k', '20Mi')]),
    '40Mi = 40',
  ],
  ['only an init container', pod([undefined], [init('i', '10Mi')]), '10Mi = 10'],
  ['a sidecar adds to the containers', pod(['10Mi'], [sidecar('s', '5Mi')]), '15Mi = 15'],
  ['sidecars add up', pod(['10Mi'], [sidecar('s', '5Mi'), sidecar('t', '6Mi')]), '21Mi = 21'],
  [
    'a sidecar before an init container',
    pod(['10Mi'], [sidecar('s', '5Mi'), init('i', '30Mi')]),
    '35Mi = 35',
  ],
  ['a sidecar after an init container', pod(['10Mi'], [init('i', '30Mi'), sidecar('s', '5Mi')]), '30Mi = 30'],
  [
    'an init container without a limit after a sidecar',
    pod([undefined], [sidecar('s', '5Mi'), init('i')]),
    '5Mi = 5',
  ],
  ['overhead is added', pod(['10Mi'], [], overhead), '12Mi = 12'],
  ['overhead is added to an init container', pod(['10Mi'], [init('i', '30Mi')], overhead), '32Mi = 32'],
  ['overhead is not added to 0', pod(['0'], [], overhead), '0 = 0'],
  ['overhead alone is no limit', pod([undefined], [], overhead), undefined],
  ['a sum has the form of its first summand', pod(['1Gi', '512Mi']), '1536Mi = 1536'],
  ['a decimal sum', pod(['1G', '500M']), `1500M = ${1.5e9 / mib}`],
  ['the default of the policy', pod([undefined]), '50Mi by default = 50', { podBytes }],
  ['a declared limit instead of the default', pod(['200Mi', undefined]), '200Mi = 200', { podBytes }],
  ['a declared 0 instead of the default', pod(['0']), '0 = 0', { podBytes }],
  ['a default of 0 is no limit', pod([undefined]), undefined, { podBytes: 0 }],
  ['a decimal default', pod([undefined]), `5G by default = ${5e9 / mib}`, { podBytes: 5e9 }],
]);

test.each(pods)('the limit of a pod: $name', ({ storage, expected, defaults }) => {
  const { pod: total } = limitsOf(storage, storagePolicy({ defaultLimits: defaults }));
  const text = total && `${total.limit.text}${total.isDefault ? ' by default' : ''}`;
  expect(total && `${text} = ${total.limit.bytes / mib}`).toBe(expected);
});

const zero = { emptyDirs: [emptyDir('tmp', '0')], containers: [container('main', '0')] };
const both = { emptyDirBytes: 7 * mib, containerBytes: 3 * mib };

const parts = rows<Partial<PodStorageSpec>, readonly string[]>([
  ['none', { emptyDirs: [emptyDir('tmp')] }, []],
  [
    'in the order of the spec, whatever the medium',
    { emptyDirs: [emptyDir('z', '2Mi', true), emptyDir('b'), emptyDir('a', '1Mi')] },
    ['z 2Mi', 'a 1Mi'],
  ],
  ['a declared 0 is no limit', zero, []],
  ['a declared 0 instead of the default', zero, [], both],
  [
    'defaults for those that declare none',
    {
      emptyDirs: [emptyDir('tmp'), emptyDir('own', '1Gi')],
      containers: [container('main'), container('log', '9Mi')],
    },
    ['tmp 7Mi by default', 'own 1Gi', 'main 3Mi by default', 'log 9Mi'],
    both,
  ],
  [
    'sidecars only if they declare one; init containers never',
    {
      containers: [],
      initContainers: [init('i', '1Mi'), sidecar('s', '1Mi'), sidecar('t'), sidecar('u', '0')],
    },
    ['s 1Mi'],
    both,
  ],
  [
    'a default of 0 is no limit',
    { emptyDirs: [emptyDir('tmp')] },
    [],
    { emptyDirBytes: 0, containerBytes: 0 },
  ],
]);

test.each(parts)('the limits of volumes and containers: $name', ({ storage, expected, defaults }) => {
  const { emptyDirs, containers } = limitsOf(spec(storage), storagePolicy({ defaultLimits: defaults }));
  const named = [...emptyDirs, ...[...containers].map(([name, limit]) => ({ name, ...limit }))];
  expect(
    named.map(({ name, limit, isDefault }) => `${name} ${limit.text}${isDefault ? ' by default' : ''}`),
  ).toEqual(expected);
});

test('limits are ordered by the part that is used: any usage of a limit of 0 is first, none is last', () => {
  const measured = (usedBytes: number, bytes: number) => ({ usedBytes, limit: { bytes, text: `${bytes}` } });
  const ordered = [measured(1, 0), measured(9, 10), measured(5, 10), measured(0, 0)];
  expect(ordered.toReversed().sort(byFullness)).toEqual(ordered);
});
