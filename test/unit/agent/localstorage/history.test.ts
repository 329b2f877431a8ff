import { expect, test } from 'vitest';
import type { StorageWarning } from '../../../../src/api/local-storage.ts';
import { observeStorage, type StorageHistory } from '../../../../src/agent/localstorage/history.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { now } from '../../../builders.ts';
import {
  container,
  emptyDir,
  governedBy,
  mib,
  storagePod,
  storagePolicy,
  usage,
  type Used,
} from './builders.ts';

const pod = storagePod('p', { emptyDirs: [emptyDir('tmp', '100Mi')] });

/** Looks a minute apart; undefined = the pod is not measured. */
class Watcher {
  history: StorageHistory = new Map();
  #minutes = 0;
  policy = storagePolicy();
  pods = [pod];

  look(used: Used | undefined, minutes = 1) {
    this.#minutes += minutes;
    const at = new Date(now.getTime() + this.#minutes * 60_000);
    const measured = usage(used === undefined ? {} : { p: { atMs: at.getTime(), ...used } }, {
      atMs: at.getTime(),
    });
    const { pods, policy } = this;
    const plan = planLocalStorage({ pods, usage: measured }, { governance: governedBy(policy), now: at });
    const observed = observeStorage(this.history, { plan, pods, policy, now: at });
    this.history = observed.history;
    return observed;
  }

  /** The levels that one look at the volume raises. */
  raises(size: number): number[] {
    return this.look({ volumes: { tmp: size } }).raised.map(({ percent }) => percent);
  }
}

test.each<{
  readonly name: string;
  readonly sizes: readonly number[];
  readonly expected: readonly number[][];
}>([
  { name: 'once', sizes: [79, 81, 82, 90], expected: [[], [80], [], []] },
  { name: 'each level', sizes: [81, 96, 200], expected: [[80], [95], []] },
  { name: 'the highest alone of those passed at once', sizes: [50, 120], expected: [[], [95]] },
  { name: 'not the lower one on the way down', sizes: [96, 85, 81], expected: [[95], [], []] },
  { name: 'again after it fell below the level', sizes: [81, 80, 81], expected: [[80], [], [80]] },
  {
    name: 'the higher one again after it fell below that one',
    sizes: [96, 90, 96],
    expected: [[95], [], [95]],
  },
  { name: 'both again after it fell below both', sizes: [96, 10, 96], expected: [[95], [], [95]] },
  { name: 'nothing below the lowest', sizes: [40, 60, 80], expected: [[], [], []] },
])('a level is told: $name', ({ sizes, expected }) => {
  const watcher = new Watcher();
  expect(sizes.map((size) => watcher.raises(size))).toEqual(expected);
});

test('a warning tells growth, time left, and since when', () => {
  const watcher = new Watcher();
  for (const size of [60, 70, 80]) watcher.raises(size);
  const { warnings, raised } = watcher.look({ volumes: { tmp: 90 } });
  expect(raised).toEqual(warnings);
  expect(warnings).toEqual([
    {
      pod: { namespace: 'web', name: 'p', uid: 'uid-p' },
      excess: {
        ...{ signal: 'emptydirfs.limit', subject: 'tmp', usedBytes: 90 * mib },
        ...{ limit: { bytes: 100 * mib, text: '100Mi' }, isDefault: false },
      },
      ...{ percent: 80, growthBytesPerMinute: 10 * mib, secondsLeft: 60 },
      sinceMs: now.getTime() + 4 * 60_000,
    },
  ]);
  expect(watcher.look({ volumes: { tmp: 94 } }).warnings[0]).toMatchObject({
    sinceMs: now.getTime() + 4 * 60_000,
  });
});

test.each<{
  readonly name: string;
  readonly size: number;
  readonly evictAtPercent: number;
  readonly left: number;
}>([
  { name: 'to the limit', size: 90, evictAtPercent: 100, left: 60 },
  { name: 'to the part of it that evicts', size: 90, evictAtPercent: 95, left: 30 },
  { name: 'none beyond it', size: 96, evictAtPercent: 95, left: 0 },
])('time left $name', ({ size, evictAtPercent, left }) => {
  const watcher = new Watcher();
  watcher.policy = storagePolicy({ evictAtPercent });
  for (const used of [size - 20, size - 10]) watcher.raises(used);
  expect(watcher.look({ volumes: { tmp: size } }).warnings[0]?.secondsLeft).toBe(left);
});

test('without levels nothing is watched', () => {
  const watcher = new Watcher();
  watcher.policy = storagePolicy({ warnAtPercent: [] });
  expect(watcher.look({ volumes: { tmp: 200 } })).toEqual({ history: new Map(), warnings: [], raised: [] });
});

test('the time left of what does not grow is not known', () => {
  const watcher = new Watcher();
  for (let i = 0; i < 5; i += 1) watcher.raises(85);
  const [warning] = watcher.look({ volumes: { tmp: 85 } }).warnings;
  expect(warning?.secondsLeft).toBeUndefined();
  expect(warning?.growthBytesPerMinute).toBeUndefined();
});

test('a figure that is missing once is not forgotten, one that is missing for long is', () => {
  const watcher = new Watcher();
  expect(watcher.raises(85)).toEqual([80]);
  watcher.look(undefined);
  expect(watcher.raises(85)).toEqual([]);
  watcher.look(undefined, 16);
  expect(watcher.raises(85)).toEqual([80]);
});

test('a pod that is gone is forgotten', () => {
  const watcher = new Watcher();
  watcher.raises(85);
  expect(watcher.history.size).toBe(1);
  watcher.pods = [];
  watcher.look(undefined);
  expect(watcher.history.size).toBe(0);
});

test('a pod of the same name is another one', () => {
  const watcher = new Watcher();
  expect(watcher.raises(85)).toEqual([80]);
  watcher.pods = [{ ...pod, uid: 'uid-other' }];
  const at = new Date(now.getTime() + 120_000);
  const measured = { ...usage({ other: { volumes: { tmp: 85 } } }), atMs: at.getTime() };
  const { pods, policy } = watcher;
  const plan = planLocalStorage({ pods, usage: measured }, { governance: governedBy(policy), now: at });
  const { raised } = observeStorage(watcher.history, { plan, pods, policy, now: at });
  expect(raised.map(({ pod: { uid } }) => uid)).toEqual(['uid-other']);
});

test('a level that a policy adds below what is exceeded raises nothing, one above it does', () => {
  const watcher = new Watcher();
  watcher.raises(96);
  watcher.policy = storagePolicy({ warnAtPercent: [50, 80, 95] });
  expect(watcher.raises(97)).toEqual([]);
  watcher.policy = storagePolicy({ warnAtPercent: [50, 96] });
  expect(watcher.raises(97)).toEqual([96]);
});

test('warnings stand with the one nearest to its limit first, a limit of 0 before all', () => {
  const pods = ['a', 'b', 'c'].map((name) =>
    storagePod(name, { containers: [container('main', name === 'c' ? '0' : '100Mi')] }),
  );
  const measured = usage({ a: { total: 82 }, b: { total: 130 }, c: { total: 1 } });
  const given = { governance: governedBy(storagePolicy()), policy: storagePolicy(), now };
  const plan = planLocalStorage({ pods, usage: measured }, given);
  const { warnings } = observeStorage(new Map(), { plan, pods, ...given });
  expect(warnings.map(({ pod: { name } }: StorageWarning) => name)).toEqual(['c', 'b', 'a']);
});

test('what is far from its limits takes no memory, and never more than 1024 limits do', () => {
  const pods = Array.from({ length: 2000 }, (_, i) =>
    storagePod(`p${i}`, { containers: [container('main', '100Mi')] }),
  );
  const given = { governance: governedBy(storagePolicy()), policy: storagePolicy(), now };
  const look = (size: number) => {
    const measured = usage(Object.fromEntries(pods.map(({ name }) => [name, { total: size }])));
    return observeStorage(new Map(), {
      plan: planLocalStorage({ pods, usage: measured }, given),
      pods,
      ...given,
    });
  };
  expect(look(40).history.size).toBe(0);
  expect(look(41).history.size).toBe(1024);
  // Of those that cannot be remembered nothing is told again and again.
  expect(look(90).warnings).toHaveLength(2000);
  expect(look(90).raised).toHaveLength(1024);
});
