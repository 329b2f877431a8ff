import { expect, test } from 'vitest';
import { sharedUsage } from '../../../../src/commands/agent/kubelet-usage.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { usage } from '../../agent/localstorage/builders.ts';

const never = new AbortController().signal;

test('one reading serves all units; a failed one is tried again', async () => {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  let reads = 0;
  let isDown = false;
  const read = () => {
    reads += 1;
    return isDown ? Promise.reject(new Error('away')) : Promise.resolve(usage({}, { impossible: ['pod a'] }));
  };
  const shared = sharedUsage({ read, lastsMs: 5000, clock, log });
  const [first, atOnce] = await Promise.all([shared(never), shared(never)]);
  expect(atOnce).toBe(first);
  clock.advance(4999);
  expect(await shared(never)).toBe(first);
  expect(reads).toBe(1);
  clock.advance(1);
  isDown = true;
  const failed = await Promise.allSettled([shared(never), shared(never)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(reads).toBe(2);
  isDown = false;
  await shared(never);
  expect(reads).toBe(3);
  expect(log.lines).toHaveLength(1);
});
