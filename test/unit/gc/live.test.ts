import { beforeEach, describe, expect, test } from 'vitest';
import type { Check, Objection, StepResult } from '../../../src/gc/execute.ts';
import { LiveQuery, liveMs } from '../../../src/gc/live.ts';
import { PassFixture } from './fixture.ts';

let fixture: PassFixture;
beforeEach(() => {
  fixture = new PassFixture();
});

describe('a response', () => {
  test('that is one millisecond below the maximum age is fresh', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs - 1 });
    await fixture.run({ decisions: ['a'], execution: { checks: [slow] } });
    expect(fixture.calls).toEqual(['query slow a', 'remove a']);
  });

  test('that is stale three times in a row stops the pass', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs });
    const { stopped } = await fixture.run({ execution: { checks: [slow] } });
    expect(fixture.calls).toEqual(['query slow a', 'query slow a', 'query slow a']);
    expect(stopped?.why).toMatch(/takes longer than 5 s/);
    expect(stopped?.error).toBeInstanceOf(Error);
  });

  test('that is stale three times in a row only keeps the object if its check has `whenSlow`', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs });
    const whenSlow: Objection = { kind: 'keep', reason: 'NodeUnknown' };
    await fixture.run({ decisions: ['a', 'b'], execution: { checks: [{ ...slow, whenSlow }] } });
    expect(fixture.kinds).toEqual(['a kept', 'b kept']);
  });

  test('is shared by decisions of one key for 5 s from the request', async () => {
    const shared = fixture.check('policies', { shared: true });
    const step = fixture.step('remove');
    const slowly = (target: string): Promise<StepResult> => {
      fixture.clock.advance(liveMs / 2);
      return step(target);
    };
    await fixture.run({ execution: { checks: [shared], steps: [slowly] } });
    expect(fixture.calls).toEqual([
      'query policies a',
      'remove a',
      'remove b',
      'query policies c',
      'remove c',
    ]);
  });

  test('serves at most `maxDecisions` decisions', async () => {
    const listing = fixture.check('listing', { shared: true, maxDecisions: 2 });
    await fixture.run({ execution: { checks: [listing] } });
    expect(fixture.calls).toEqual(['query listing a', 'remove a', 'remove b', 'query listing c', 'remove c']);
  });

  test('serves the next step of its decision too', async () => {
    const checks = [fixture.check('listing', { shared: true, maxDecisions: 1 })];
    const steps = [fixture.step('stop'), fixture.step('remove')];
    await fixture.run({ decisions: ['a'], execution: { checks, steps } });
    expect(fixture.calls).toEqual(['query listing a', 'stop a', 'remove a']);
  });

  test('that is an error fails the decision, and is shared as well', async () => {
    const live = new LiveQuery<string, never>({
      clock: fixture.clock,
      query: (target) => {
        fixture.calls.push(`query ${target}`);
        return Promise.reject(new Error('no response'));
      },
    });
    const { stopped } = await fixture.run({
      execution: { checks: [{ name: 'pod', live, objection: () => undefined }] },
    });
    expect(fixture.calls).toEqual(['query a']);
    expect(fixture.kinds).toEqual(['a failed', 'b failed']);
    expect(stopped?.why).toBe('the others would fail as well');
  });

  test('is queried again after a pause of the process between the last response and the action', async () => {
    let paused = false;
    const node = fixture.check('node');
    // The last step before the action that a test can pause is a check without a query.
    const pausing: Check<string> = {
      name: 'pausing',
      objection: () => {
        if (!paused) fixture.clock.advance(liveMs);
        paused = true;
        return undefined;
      },
    };
    await fixture.run({ decisions: ['a'], execution: { checks: [node, pausing] } });
    expect(fixture.calls).toEqual(['query node a', 'query node a', 'remove a']);
  });

  test('is not awaited after a shutdown, and nothing is removed', async () => {
    const stop = new AbortController();
    const live = new LiveQuery<string, never>({
      clock: fixture.clock,
      query: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
          stop.abort();
        }),
    });
    const checks = [{ name: 'pod', live, objection: () => undefined }];
    const { stopped, outcomes } = await fixture.run({ execution: { checks }, signal: stop.signal });
    expect([stopped?.why, outcomes]).toEqual(['shutting down', []]);
  });
});
