import { describe, expect, test } from 'vitest';
import type { PodStorageSpec } from '../../../../src/api/local-storage.ts';
import type { DefaultLimits } from '../../../../src/api/policy/policy.ts';
import { hasLimits, limitsOf } from '../../../../src/agent/localstorage/limits.ts';
import { container, emptyDir, init, mib, sidecar, spec, storagePolicy } from './builders.ts';

const { defaultLimits: none } = storagePolicy();

interface Row {
  readonly name: string;
  readonly storage: Partial<PodStorageSpec>;
  readonly defaults?: Partial<DefaultLimits>;
}

describe('the limit of a pod', () => {
  const totalOf = ({ storage, defaults }: Row): string | undefined => {
    const { pod } = limitsOf(spec(storage), { ...none, ...defaults });
    return pod && `${pod.limit.text}${pod.isDefault ? ' by default' : ''} = ${pod.limit.bytes / mib}`;
  };

  test.each<Row & { readonly expected: string | undefined }>([
    { name: 'no container declares one', storage: {}, expected: undefined },
    { name: 'one container', storage: { containers: [container('a', '200Mi')] }, expected: '200Mi = 200' },
    {
      name: 'containers add up',
      storage: { containers: [container('a', '200Mi'), container('b', '56Mi')] },
      expected: '256Mi = 256',
    },
    {
      name: 'a container without one counts as 0, not as unlimited',
      storage: { containers: [container('a', '200Mi'), container('b')] },
      expected: '200Mi = 200',
    },
    {
      name: 'an explicit 0 is a limit',
      storage: { containers: [container('a', '0'), container('b')] },
      expected: '0 = 0',
    },
    {
      name: 'an explicit 0 adds nothing to another',
      storage: { containers: [container('a', '0'), container('b', '10Mi')] },
      expected: '10Mi = 10',
    },
    {
      name: 'a larger init container raises it',
      storage: { containers: [container('a', '10Mi')], initContainers: [init('i', '30Mi')] },
      expected: '30Mi = 30',
    },
    {
      name: 'a smaller one does not',
      storage: { containers: [container('a', '30Mi')], initContainers: [init('i', '10Mi')] },
      expected: '30Mi = 30',
    },
    {
      name: 'of init containers, which run one after the other, the largest counts',
      storage: { initContainers: [init('i', '10Mi'), init('j', '40Mi'), init('k', '20Mi')] },
      expected: '40Mi = 40',
    },
    {
      name: 'an init container alone makes a limit for the pod',
      storage: { containers: [container('a')], initContainers: [init('i', '10Mi')] },
      expected: '10Mi = 10',
    },
    {
      name: 'a sidecar is added to the containers',
      storage: { containers: [container('a', '10Mi')], initContainers: [sidecar('s', '5Mi')] },
      expected: '15Mi = 15',
    },
    {
      name: 'sidecars add up',
      storage: {
        containers: [container('a', '10Mi')],
        initContainers: [sidecar('s', '5Mi'), sidecar('t', '6Mi')],
      },
      expected: '21Mi = 21',
    },
    {
      name: 'an init container runs beside the sidecars before it',
      storage: {
        containers: [container('a', '10Mi')],
        initContainers: [sidecar('s', '5Mi'), init('i', '30Mi')],
      },
      expected: '35Mi = 35',
    },
    {
      name: 'but not beside those after it',
      storage: {
        containers: [container('a', '10Mi')],
        initContainers: [init('i', '30Mi'), sidecar('s', '5Mi')],
      },
      expected: '30Mi = 30',
    },
    {
      name: 'an init container without a limit is but the sidecars before it',
      storage: {
        containers: [container('a')],
        initContainers: [sidecar('s', '5Mi'), init('i')],
      },
      expected: '5Mi = 5',
    },
    {
      name: 'overhead is added',
      storage: { containers: [container('a', '10Mi')], overheadBytes: 2 * mib },
      expected: '12Mi = 12',
    },
    {
      name: 'overhead is added after the maximum of the init containers',
      storage: {
        containers: [container('a', '10Mi')],
        initContainers: [init('i', '30Mi')],
        overheadBytes: 2 * mib,
      },
      expected: '32Mi = 32',
    },
    {
      name: 'not to a limit of 0',
      storage: { containers: [container('a', '0')], overheadBytes: 2 * mib },
      expected: '0 = 0',
    },
    {
      name: 'overhead alone is no limit',
      storage: { overheadBytes: 2 * mib },
      expected: undefined,
    },
    {
      name: 'a sum is told in the form of its first part, without a fraction',
      storage: { containers: [container('a', '1Gi'), container('b', '512Mi')] },
      expected: '1536Mi = 1536',
    },
    {
      name: 'a decimal one stays decimal',
      storage: { containers: [container('a', '1G'), container('b', '500M')] },
      expected: `1500M = ${1.5e9 / mib}`,
    },
    {
      name: 'the default of the policy is for a pod that declares none',
      storage: {},
      defaults: { podBytes: 50 * mib },
      expected: '50Mi by default = 50',
    },
    {
      name: 'one that declares any is left alone',
      storage: { containers: [container('a', '200Mi'), container('b')] },
      defaults: { podBytes: 50 * mib, containerBytes: 1 * mib },
      expected: '200Mi = 200',
    },
    {
      name: 'one that declares 0 too',
      storage: { containers: [container('a', '0')] },
      defaults: { podBytes: 50 * mib },
      expected: '0 = 0',
    },
    { name: 'a default of 0 is none', storage: {}, defaults: { podBytes: 0 }, expected: undefined },
    {
      name: 'a decimal default is told as one',
      storage: {},
      defaults: { podBytes: 5e9 },
      expected: `5G by default = ${5e9 / mib}`,
    },
  ])('$name', ({ expected, ...row }) => {
    expect(totalOf(row)).toBe(expected);
  });
});

describe('the limits of volumes and containers', () => {
  const linesOf = ({ storage, defaults }: Row): string[] => {
    const { emptyDirs, containers } = limitsOf(spec(storage), { ...none, ...defaults });
    const named = [...emptyDirs, ...[...containers].map(([name, limit]) => ({ name, ...limit }))];
    return named.map(
      ({ name, limit, isDefault }) => `${name} ${limit.text}${isDefault ? ' by default' : ''}`,
    );
  };
  const defaults = { emptyDirBytes: 7 * mib, containerBytes: 3 * mib };

  test.each<Row & { readonly expected: readonly string[] }>([
    { name: 'none', storage: { emptyDirs: [emptyDir('tmp')] }, expected: [] },
    {
      name: 'in the order of the spec, whatever the medium',
      storage: { emptyDirs: [emptyDir('z', '2Mi', true), emptyDir('b'), emptyDir('a', '1Mi')] },
      expected: ['z 2Mi', 'a 1Mi'],
    },
    {
      name: 'a size limit or a container limit of 0 is none',
      storage: { emptyDirs: [emptyDir('tmp', '0')], containers: [container('main', '0')] },
      expected: [],
    },
    {
      name: 'neither do they get a default, for they declare to have none',
      storage: { emptyDirs: [emptyDir('tmp', '0')], containers: [container('main', '0')] },
      defaults,
      expected: [],
    },
    {
      name: 'defaults are for those that declare none',
      storage: {
        emptyDirs: [emptyDir('tmp'), emptyDir('own', '1Gi')],
        containers: [container('main'), container('log', '9Mi')],
      },
      defaults,
      expected: ['tmp 7Mi by default', 'own 1Gi', 'main 3Mi by default', 'log 9Mi'],
    },
    {
      name: 'init containers and sidecars are bound by the limit of the pod alone',
      storage: { containers: [], initContainers: [init('i', '1Mi'), sidecar('s', '1Mi')] },
      defaults,
      expected: [],
    },
    {
      name: 'defaults of 0 are none',
      storage: { emptyDirs: [emptyDir('tmp')] },
      defaults: { emptyDirBytes: 0, containerBytes: 0 },
      expected: [],
    },
  ])('$name', ({ expected, ...row }) => {
    expect(linesOf(row)).toEqual(expected);
  });
});

test.each<Row & { readonly expected: boolean }>([
  { name: 'nothing declared', storage: { emptyDirs: [emptyDir('tmp')] }, expected: false },
  { name: 'a volume', storage: { emptyDirs: [emptyDir('tmp', '1Mi')] }, expected: true },
  { name: 'a pod by its init container', storage: { initContainers: [init('i', '1Mi')] }, expected: true },
  { name: 'a container by default', storage: {}, defaults: { containerBytes: 1 }, expected: true },
])('whether any limit binds: $name', ({ storage, defaults, expected }) => {
  expect(hasLimits(limitsOf(spec(storage), { ...none, ...defaults }))).toBe(expected);
});
