import { expect, test } from 'vitest';
import { observeStorage, type StorageHistory } from '../../../../src/agent/localstorage/history.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { now } from '../../../builders.ts';
import {
  container,
  emptyDir,
  governedBy,
  limited,
  mib,
  scratch,
  storagePod,
  storagePolicy,
  usage,
  type Used,
} from './builders.ts';
import { anyAge } from '../../../../src/agent/localstorage/pods.ts';

/** Passes over one pod, a minute apart. */
class Watcher {
  history: StorageHistory = new Map();
  policy = storagePolicy();
  pods = [storagePod('p', scratch)];
  #minutes = 0;

  /** One pass; undefined = the pod is not measured. */
  pass(used: Used | undefined, minutes = 1) {
    this.#minutes += minutes;
    const at = new Date(now.getTime() + this.#minutes * 60_000);
    const atMs = at.getTime();
    const [pod] = this.pods;
    const names = pod === undefined ? [] : [pod.uid.replace('uid-', '')];
    const measured = used && Object.fromEntries(names.map((name) => [name, { atMs, ...used }]));
    const { pods, policy } = this;
    const facts = { pods, usage: usage(measured ?? {}, { atMs }) };
    const plan = planLocalStorage(facts, { governance: governedBy(policy), now: at, maxAges: anyAge });
    const observed = observeStorage(this.history, { plan, pods, policy, now: at });
    this.history = observed.history;
    return observed;
  }

  /** The levels that are raised when the volume has this size. */
  raises(size: number): number[] {
    return this.pass({ volumes: { tmp: size } }).raised.map(({ percent }) => percent);
  }
}

test.each<{
  readonly name: string;
  readonly sizes: readonly number[];
  readonly expected: readonly number[][];
}>([
  { name: 'once', sizes: [79, 81, 82, 90], expected: [[], [80], [], []] },
  { name: 'only the highest of the new ones', sizes: [50, 120], expected: [[], [95]] },
  { name: 'not the lower one when usage falls', sizes: [96, 85, 81], expected: [[95], [], []] },
  { name: 'again after usage fell below it', sizes: [81, 80, 81], expected: [[80], [], [80]] },
])('a level is raised: $name', ({ sizes, expected }) => {
  const watcher = new Watcher();
  expect(sizes.map((size) => watcher.raises(size))).toEqual(expected);
});

test('a warning has the growth, the time left, and the start of its level', () => {
  const watcher = new Watcher();
  for (const size of [60, 70, 80]) watcher.raises(size);
  const { warnings, raised } = watcher.pass({ volumes: { tmp: 90 } });
  expect(raised).toEqual(warnings);
  const sinceMs = now.getTime() + 4 * 60_000;
  expect(warnings).toEqual([
    {
      pod: { namespace: 'web', name: 'p', uid: 'uid-p' },
      excess: {
        ...{ signal: 'emptydirfs.limit', subject: 'tmp', usedBytes: 90 * mib },
        ...{ limit: { bytes: 100 * mib, text: '100Mi' }, isDefault: false, evictAtPercent: 100 },
      },
      ...{ percent: 80, growthBytesPerMinute: 10 * mib, secondsLeft: 60, sinceMs },
    },
  ]);
  expect(watcher.pass({ volumes: { tmp: 94 } }).warnings[0]).toMatchObject({ sinceMs });
});

const fill = [70, 80, 90];
test.each<
  [name: string, sizes: readonly number[], left: number | undefined, evictAt?: number, isMemory?: true]
>([
  ['counts until evictAtPercent', fill, 30, 95],
  ['is 0 above evictAtPercent', [76, 86, 96], 0, 95],
  ['counts until the limit of a volume in memory, whatever evictAtPercent', fill, 60, 85, true],
  ['is not known without growth', [85, 85, 85, 85, 85, 85], undefined],
])('the time left %s', (_, sizes, left, ...[evictAtPercent = 100, isMemory = false]) => {
  const watcher = new Watcher();
  watcher.pods = [storagePod('p', { emptyDirs: [emptyDir('tmp', '100Mi', isMemory)] })];
  watcher.policy = storagePolicy({ evictAtPercent });
  const passes = sizes.map((tmp) => watcher.pass({ volumes: { tmp } }));
  const growthBytesPerMinute = left === undefined ? undefined : 10 * mib;
  expect(passes.at(-1)?.warnings[0]).toMatchObject({ secondsLeft: left, growthBytesPerMinute });
});

test('without levels no limit is watched', () => {
  const watcher = new Watcher();
  watcher.policy = storagePolicy({ warnAtPercent: [] });
  expect(watcher.pass({ volumes: { tmp: 200 } })).toEqual({ history: new Map(), warnings: [], raised: [] });
});

test('the history outlives one missing measurement, not 16 minutes without one', () => {
  const watcher = new Watcher();
  expect(watcher.raises(85)).toEqual([80]);
  watcher.pass(undefined);
  expect(watcher.raises(85)).toEqual([]);
  watcher.pass(undefined, 16);
  expect(watcher.raises(85)).toEqual([80]);
});

test('a level that the policy adds is raised only above the levels that are raised', () => {
  const watcher = new Watcher();
  watcher.raises(96);
  watcher.policy = storagePolicy({ warnAtPercent: [50, 80, 95] });
  expect(watcher.raises(97)).toEqual([]);
  watcher.policy = storagePolicy({ warnAtPercent: [50, 96] });
  expect(watcher.raises(97)).toEqual([96]);
});

const given = { governance: governedBy(storagePolicy()), policy: storagePolicy(), now, maxAges: anyAge };

test('the warning nearest to its limit comes first, a limit of 0 before all others', () => {
  const pods = [
    ...['a', 'b'].map((name) => storagePod(name, limited)),
    storagePod('c', { containers: [container('main', '0')] }),
  ];
  const measured = usage({ a: { total: 82 }, b: { total: 130 }, c: { total: 1 } });
  const plan = planLocalStorage({ pods, usage: measured }, given);
  const { warnings } = observeStorage(new Map(), { plan, pods, ...given });
  expect(warnings.map(({ pod: { name } }) => name)).toEqual(['c', 'b', 'a']);
});

test('at most 1024 limits are watched, and none far from its levels', () => {
  const pods = Array.from({ length: 2000 }, (_, i) => storagePod(`p${i}`, limited));
  const pass = (size: number) => {
    const measured = usage(Object.fromEntries(pods.map(({ name }) => [name, { total: size }])));
    const plan = planLocalStorage({ pods, usage: measured }, given);
    return observeStorage(new Map(), { plan, pods, ...given });
  };
  expect(pass(40).history.size).toBe(0);
  expect(pass(41).history.size).toBe(1024);
  // A warning that cannot be remembered is never raised: it would be in every pass.
  expect(pass(90).warnings).toHaveLength(2000);
  expect(pass(90).raised).toHaveLength(1024);
});
