import { expect, test } from 'vitest';
import {
  container,
  emptyDir,
  init,
  limited,
  mib,
  overPod,
  overVolume,
  planOf,
  scratch,
  sidecar,
  verdicts,
  type PlanRow,
} from './builders.ts';

test.each<PlanRow & { readonly name: string; readonly expected: string }>([
  // emptyDir
  {
    name: 'a volume over its limit',
    storage: scratch,
    used: overVolume,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'exactly its limit is no excess',
    storage: scratch,
    used: { volumes: { tmp: 100 } },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'one byte more is',
    storage: scratch,
    used: { volumes: { tmp: 100 + 1 / mib } },
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'a volume in memory counts as well',
    storage: { emptyDirs: [emptyDir('shm', '10Mi', true)] },
    used: { volumes: { shm: 11 }, total: 0 },
    expected: 'Evict p emptydirfs.limit shm',
  },
  {
    name: 'of two volumes the first of the spec decides, however full the other is',
    storage: { emptyDirs: [emptyDir('b', '10Mi'), emptyDir('a', '10Mi')] },
    used: { volumes: { a: 900, b: 11 } },
    expected: 'Evict p emptydirfs.limit b',
  },
  {
    name: 'a volume within its limit does not hide the next',
    storage: { emptyDirs: [emptyDir('a', '10Mi'), emptyDir('b', '10Mi')] },
    used: { volumes: { a: 5, b: 11 } },
    expected: 'Evict p emptydirfs.limit b',
  },
  {
    name: 'a volume without a figure is passed over',
    storage: { emptyDirs: [emptyDir('a', '10Mi'), emptyDir('b', '10Mi')] },
    used: { volumes: { b: 9 } },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'a limit of 0 is none for a volume',
    storage: { emptyDirs: [emptyDir('tmp', '0')] },
    used: { volumes: { tmp: 900 } },
    expected: 'Keep p NoLimit',
  },
  // pod
  {
    name: 'a pod over the sum of its limits',
    storage: limited,
    used: overPod,
    expected: 'Evict p ephemeralpodfs.limit',
  },
  {
    name: 'the volume comes before the pod',
    storage: { ...scratch, ...limited },
    used: { ...overPod, volumes: { tmp: 101 } },
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'a pod exactly at its limit',
    storage: limited,
    used: { total: 100 },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'one container without a limit: all the pod uses counts against that of the other',
    storage: { containers: [container('main', '100Mi'), container('free')] },
    used: { total: 101, containers: { main: { logs: 1 }, free: { layer: 100 } } },
    expected: 'Evict p ephemeralpodfs.limit',
  },
  {
    name: 'an explicit 0 is a limit of the pod',
    storage: { containers: [container('main', '0')] },
    used: { total: 1 },
    expected: 'Evict p ephemeralpodfs.limit',
  },
  {
    name: 'of which nothing is used',
    storage: { containers: [container('main', '0')] },
    used: { total: 0 },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'a sidecar gives room',
    storage: { ...limited, initContainers: [sidecar('s', '60Mi')] },
    used: { total: 150 },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'overhead gives room',
    storage: { ...limited, overheadBytes: 60 * mib },
    used: { total: 150 },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'an init container gives room as large as it is',
    storage: { ...limited, initContainers: [init('i', '140Mi')] },
    used: { total: 150 },
    expected: 'Evict p ephemeralpodfs.limit',
  },
  {
    name: 'without a figure of the pod the containers are still looked at',
    storage: limited,
    used: { containers: { main: { layer: 50, logs: 51 } } },
    expected: 'Evict p ephemeralcontainerfs.limit main',
  },
  // container
  {
    name: 'a container over its limit, in a pod that is not',
    storage: { containers: [container('main', '10Mi'), container('other', '100Mi')] },
    used: { total: 20, containers: { main: { layer: 5, logs: 6 } } },
    expected: 'Evict p ephemeralcontainerfs.limit main',
  },
  {
    name: 'exactly its limit',
    storage: { containers: [container('main', '10Mi'), container('other', '100Mi')] },
    used: { total: 10, containers: { main: { layer: 5, logs: 5 } } },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'of two containers the first of the statistics decides',
    storage: { containers: [container('a', '10Mi'), container('b', '10Mi'), container('c', '900Mi')] },
    used: { total: 40, containers: { b: { logs: 20 }, a: { logs: 20 } } },
    expected: 'Evict p ephemeralcontainerfs.limit b',
  },
  {
    name: 'its layer does not count where images have a disk of their own',
    storage: { containers: [container('main', '10Mi'), container('other', '100Mi')] },
    used: { total: 20, containers: { main: { layer: 50, logs: 9 } } },
    stats: { dedicatedImageFs: true },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'its logs still do',
    storage: { containers: [container('main', '10Mi'), container('other', '100Mi')] },
    used: { total: 20, containers: { main: { layer: 0, logs: 11 } } },
    stats: { dedicatedImageFs: true },
    expected: 'Evict p ephemeralcontainerfs.limit main',
  },
  {
    name: 'a sidecar has no limit of its own',
    storage: { ...limited, initContainers: [sidecar('s', '10Mi')] },
    used: { total: 90, containers: { s: { logs: 80 } } },
    expected: 'Keep p UnderLimit',
  },
  {
    name: 'a container that the spec does not have is no matter',
    storage: limited,
    used: { total: 9, containers: { ghost: { logs: 800 } } },
    expected: 'Keep p UnderLimit',
  },
])('$name: $expected', ({ expected, ...row }) => {
  expect(verdicts(planOf(row))).toEqual([expected]);
});
