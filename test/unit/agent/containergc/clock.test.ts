import { expect, test } from 'vitest';
import { now } from '../../../builders.ts';
import { sandbox } from '../../../fakes/runtime.ts';
import { bed, nodePolicy, type Bed } from './environment.ts';
import { apiPod, attempts, checkRow, dead, link, logsRule, type Row } from './builders.ts';

const hourMs = 3_600_000;
const jump = { untilMs: now.getTime() - hourMs - 10 * 60_000, ms: hourMs };

test.each<Row>([
  {
    name: 'in the pass of a jump no minimum age is judged',
    world: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    policy: { minimumAgeMs: 60_000 },
    goes: [],
    stays: ['c0 ClockUnsure 12:01:00', 'c1 ClockUnsure 12:01:00'],
  },
  {
    name: 'without a minimum age a jump does not matter',
    world: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    goes: ['c0 PodGone', 'c1 PodGone'],
  },
  {
    name: 'what was made before a jump is as much younger than it looks',
    world: { containers: [dead('before', 75), dead('old', 175), dead('after', 9)], jumps: [jump] },
    policy: { minimumAgeMs: 30 * 60_000 },
    goes: ['old PodGone'],
    stays: ['before TooYoung 12:15:00', 'after TooYoung 12:21:00'],
  },
])('ages and jumps of the clock: $name', checkRow);

/** A container made five minutes before a clock that then jumps an hour ahead. */
function jumped(): Bed {
  const made = bed(nodePolicy({ minimumAgeMs: 30 * 60_000, maxPerPodContainer: undefined }));
  made.runtime.add(dead('young', 5, { pod: 'gone' }));
  return made;
}

test('a clock that jumps ahead makes no container old: not in that pass, nor in the next', async () => {
  const made = jumped();
  await made.pass();
  made.clock.advance(60_000);
  made.clock.stepWall(hourMs);
  await made.pass();
  expect(made.reports.at(-1)).toMatchObject({ result: 'Unknown', message: 'the clock has jumped' });
  expect(await made.registry.metrics()).toContain(
    'dustpan_container_gc_kept_objects{reason="ClockUnsure"} 1',
  );
  for (let minutes = 2; minutes <= 25; minutes += 1) {
    made.clock.advance(60_000);
    await made.pass();
    expect(made.left(), `${minutes} minutes later`).toEqual(minutes < 25 ? ['young'] : []);
  }
});

test('a clock that jumps ahead twice counts twice', async () => {
  const made = jumped();
  for (let jumps = 0; jumps < 2; jumps += 1) {
    await made.pass();
    made.clock.advance(60_000);
    made.clock.stepWall(hourMs);
  }
  await made.pass();
  made.clock.advance(60_000);
  await made.pass();
  expect(made.left()).toEqual(['young']);
});

test('when the clock jumps in the middle of a pass, the pass ends', async () => {
  const made = bed(nodePolicy({ logs: logsRule() }));
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(4), sandbox('pod'));
  made.logs.add(link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'));
  made.runtime.before = (call) => {
    if (call === 'removeContainer') made.clock.stepWall(-hourMs);
  };
  await made.pass();
  expect(made.runtime.changes).toEqual(['removeContainer c0']);
  expect(made.logs.calls).toEqual([]);
  expect(made.reports).toMatchObject([{ result: 'Short', removed: 1, message: 'the clock has jumped' }]);
});
