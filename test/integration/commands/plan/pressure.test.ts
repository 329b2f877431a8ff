import { expect, test } from 'vitest';
import { dustpan, inputOfEachTest, planned, policy } from './fixture.ts';

const input = inputOfEachTest('image-disk-full');

const rules = {
  imageGC: { highThresholdPercent: 95, lowThresholdPercent: 90 },
  nodePressure: { thresholds: { 'nodefs.available': '15%' }, evictPods: true },
};

test('what the agent removes on a node under pressure is planned and explained, and exits with 3', async () => {
  input.write('policy.json', policy('nodes', { mode: 'Enforce', nodes: rules }));
  const { decisions, totals } = await planned([...input.args, '--kept']);
  expect(
    decisions
      .filter(({ unit }) => unit === 'nodepressure')
      .map(
        ({ verdict, reason, order, object }) => `${order ?? '-'} ${object.name ?? ''} ${verdict} ${reason}`,
      ),
  ).toEqual([
    '1 registry.example.com:5000/base/cuda:12 Remove nodefs.available',
    '2 registry.example.com/train:old Remove nodefs.available',
    // By the default threshold of 20 %, of which the others free a part.
    '3 docker.io/library/nginx:1.27 Remove imagefs.available',
    '- node-1 Warn nodefs.available',
    '- node-1 Warn imagefs.available',
    '- app Keep ReclaimSuffices',
    '- slow-start Keep ReclaimSuffices',
  ]);
  expect(totals.find(({ unit }) => unit === 'nodepressure')).toMatchObject({ planned: 3 });
  expect((await dustpan(['plan', ...input.args, '--exit-code'])).code).toBe(3);
  const why = await dustpan(['why', 'image', 'registry.example.com/train:old', ...input.args]);
  expect(why.stdout).toContain('nodepressure: nodefs.available');
});
