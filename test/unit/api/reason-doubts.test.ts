import { expect, test } from 'vitest';
import { reasonDoubts } from '../../../src/api/policy/reason-doubts.ts';
import { policy, terminatedRule } from '../../builders.ts';

const adviceOn = (reason: string): readonly unknown[] =>
  reasonDoubts(policy({ pods: { terminated: terminatedRule({ ttlByReason: [{ reason, ttlMs: 1 }] }) } })).map(
    ({ advice, isCertain }) => [advice.replace(/[.:?] ?.*$/s, ''), isCertain],
  );

const prefixed = (reason: string) => [[`write "${reason}"`, true]];
const notFinished = [['only a pod that has not finished has this status', true]];

test.each<readonly [string, readonly unknown[]]>([
  ['Evicted', []],
  ['OutOf*', []],
  ['*Killed', []],
  ['QuotaExceededByOperator', []],
  ['Quota*', []],
  ['Init:Error', prefixed('Error')],
  ['Init:oomkilled', prefixed('OOMKilled')],
  ['Init:Custom', prefixed('Custom')],
  ['Init:1/3', notFinished],
  ['Running', notFinished],
  ['Terminating', notFinished],
  ['CrashLoop*', [['only a waiting container has this reason', false]]],
  ['evicted', [['did you mean Evicted', false]]],
])('of the reason %s', (reason, expected) => {
  expect(adviceOn(reason)).toEqual(expected);
});

test.each([
  ['ExitCode:2', 'write exitCodes: [2] instead.'],
  ['Init:ExitCode:-1073741510', 'write exitCodes: [-1073741510] instead.'],
  ['Signal:9', 'write exitCodes: [137] instead.'],
  ['ExitCode:*', 'write exitCodes instead.'],
  ['Signal:', 'write exitCodes instead.'],
  ['Failed', 'it is a phase: write phase: Failed instead.'],
  ['Evicted, Shutdown', 'write one entry for each reason: Evicted and Shutdown.'],
])('instead of the reason %s: %s', (reason, advice) => {
  const terminated = terminatedRule({ ttlByReason: [{ reason, ttlMs: 1 }] });
  expect(reasonDoubts(policy({ pods: { terminated } }))).toMatchObject([{ advice, isCertain: true }]);
});
