import { expect, test } from 'vitest';
import { sandbox } from '../../../fakes/runtime.ts';
import { bed } from './environment.ts';
import { apiPod, attempts, dead, down } from './builders.ts';

test('while the runtime is not ready its lists are not read, nothing goes, and the pass says why', async () => {
  const made = bed();
  made.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  await made.pass();
  made.runtime.notReady = 'Starting: recovering';
  made.runtime.calls.length = 0;
  await expect(made.pass()).rejects.toThrow('listing containers and sandboxes');
  expect(made.runtime.calls).toEqual(['checkReady']);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Failed',
    message: 'listing containers and sandboxes: Status: not ready: Starting: recovering',
  });
  made.runtime.notReady = undefined;
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
});

test('a runtime that is not ready any more in the middle ends the pass', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(40), sandbox('pod'));
  made.runtime.before = (call, target) => {
    if (call === 'removeContainer' && target === 'c9') made.runtime.notReady = 'Restarting';
  };
  await expect(made.pass()).rejects.toThrow('checking before a removal');
  expect(made.reports).toMatchObject([{ result: 'Failed', removed: 16 }]);
});
