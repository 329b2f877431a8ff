import { expect, test } from 'vitest';
import { now } from '../../../builders.ts';
import { attempts, checkRow, dead, type Row } from './builders.ts';
import { Node, nodePolicy } from './environment.ts';

const hourMs = 3_600_000;
const jump = { untilMs: now.getTime() - hourMs - 10 * 60_000, ms: hourMs };

test.each<Row>([
  {
    name: 'no minimum age is judged in the pass after a jump',
    node: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    policy: { minimumAgeMs: 60_000 },
    removed: [],
    kept: ['c0 ClockUnsure 12:01:00', 'c1 ClockUnsure 12:01:00'],
  },
  {
    name: 'a jump does not matter without a minimum age',
    node: { containers: attempts(2, { pod: 'gone' }), clockUnsure: true },
    removed: ['c0 PodGone', 'c1 PodGone'],
  },
  {
    name: 'a container created before a jump is younger than it looks',
    node: { containers: [dead('before', 75), dead('old', 175), dead('after', 9)], jumps: [jump] },
    policy: { minimumAgeMs: 30 * 60_000 },
    removed: ['old PodGone'],
    kept: ['before TooYoung 12:15:00', 'after TooYoung 12:21:00'],
  },
])('jumps of the clock: $name', checkRow);

test('a clock that jumps ahead makes no container old, neither in that pass nor in the next', async () => {
  const node = new Node(nodePolicy({ minimumAgeMs: 30 * 60_000, maxPerPodContainer: undefined }));
  node.runtime.add(dead('young', 5, { pod: 'gone' }));
  await node.pass();
  node.clock.advance(60_000);
  node.clock.stepWall(hourMs);
  await node.pass();
  expect(node.reports.at(-1)).toMatchObject({ result: 'Unknown', message: 'the clock has jumped' });
  expect(await node.registry.metrics()).toContain(
    'dustpan_kept_objects{unit="containergc",reason="ClockUnsure"} 1',
  );
  for (let minutes = 2; minutes <= 25; minutes += 1) {
    node.clock.advance(60_000);
    await node.pass();
    expect(node.left, `${minutes} minutes later`).toEqual(minutes < 25 ? ['young'] : []);
  }
});
