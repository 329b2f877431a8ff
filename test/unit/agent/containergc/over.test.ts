import { expect, test } from 'vitest';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodePod } from '../../../../src/api/report/node-pass.ts';
import { minutesAgo } from '../../../builders.ts';
import { bed, type Bed } from './environment.ts';
import { dead, down, log } from './builders.ts';
import { nodePod } from '../imagegc/builders.ts';

const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';

/** What is left of a pod that the API server still finds. */
function overBed(cached: readonly NodePod[], live: Partial<NodeConfirmation>): Bed {
  const made = bed();
  made.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  made.logs.add(log('default_gone_uid-gone/main/0.log'));
  made.world.pods = cached;
  made.world.live = live;
  made.world.answers.set('uid-gone', 'exists');
  return made;
}

async function twice({ pass, clock }: Bed): Promise<void> {
  await pass();
  clock.advance(60_000);
  await pass();
}

const nothingTouched = (made: Bed): void => {
  expect(made.runtime.changes).toEqual([]);
  expect(made.logs.calls).toEqual([]);
};

const listed = (over: Partial<NodePod>): NodePod[] => [nodePod('gone', [], { uid: 'uid-gone', ...over })];
const evicted = { phase: 'Failed', evicted: true };

test.each([
  { name: 'evicted', over: evicted },
  { name: 'deleted longer than its grace period ago', over: { deletionAtMs: minutesAgo(1) } },
])('a pod that exists but was $name loses everything in the second pass', async ({ over }) => {
  const made = overBed(listed(over), { pods: listed(over) });
  await made.pass();
  nothingTouched(made);
  await made.pass();
  expect(made.left()).toEqual([]);
  expect(made.logs.paths).not.toContain(goneLog);
});

test.each<{ name: string; live: Partial<NodeConfirmation> }>([
  { name: 'lists it as running', live: { pods: listed({ phase: 'Running' }) } },
  { name: 'finds it but does not list it', live: { pods: [] } },
  { name: 'lists it with the keep label', live: { pods: listed({ ...evicted, keepMarked: true }) } },
])('an evicted pod keeps everything when the API server $name', async ({ live }) => {
  const made = overBed(listed(evicted), live);
  await twice(made);
  nothingTouched(made);
});

test('an evicted pod that turned out to run has to be seen over twice again', async () => {
  const made = overBed(listed(evicted), { pods: listed({ phase: 'Running' }) });
  await twice(made);
  made.world.live = { pods: listed(evicted) };
  await made.pass();
  nothingTouched(made);
  await made.pass();
  expect(made.left()).toEqual([]);
});

test('whether a deletion is over goes by the clock of the API server', async () => {
  const deleted = listed({ deletionAtMs: minutesAgo(1) });
  const made = overBed(deleted, { pods: deleted, clockSkewMs: 180_000 });
  await twice(made);
  nothingTouched(made);
  made.world.live = { pods: deleted, clockSkewMs: 30_000 };
  await twice(made);
  expect(made.left()).toEqual([]);
});
