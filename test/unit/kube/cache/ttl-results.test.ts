import { describe, expect, test } from 'vitest';
import { ttlRuleKey, type TtlMatchers } from '../../../../src/api/policy/ttl-rules.ts';
import { podCodec } from '../../../../src/kube/cache/resources.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { pod } from '../codec/decode.fixtures.ts';

/** Whether a pod with this status matches a rule, from both wire forms; undefined = unknown. */
function matches(rule: TtlMatchers, status: object): boolean | undefined {
  const [key, object] = [ttlRuleKey(rule), pod({ phase: 'Failed', ...status })];
  const codec = podCodec(() => new Set([key]));
  const [json, protobuf] = [codec.fromJson(object), codec.fromProtobuf(protobufOf('Pod', object))];
  expect(protobuf.ttlRules).toEqual(json.ttlRules);
  return json.ttlRules.get(key);
}

const end = (exitCode: number, reason: string): object => ({ state: { terminated: { exitCode, reason } } });
const ends = (...containerStatuses: readonly object[]): object => ({ containerStatuses });
const [error, oom] = [end(1, 'Error'), end(137, 'OOMKilled')];
const byCondition = {
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }],
};
const evictedWith = (length: number): object => ({
  reason: 'Evicted',
  message: `${'€'.repeat(length)}the end`,
});

describe('an entry of ttlByReason matches', () => {
  test.each<readonly [string, TtlMatchers, object, boolean]>([
    ['the reason of a container', { reason: 'OOMKilled' }, ends(error, oom), true],
    ['the reason of no container', { reason: 'OOMKilled' }, ends(error), false],
    ['a reason with a pattern', { reason: 'OutOf*' }, { reason: 'OutOfnvidia.com/gpu' }, true],
    ['a reason with a pattern for another word', { reason: 'OutOf?pu' }, { reason: 'OutOfmemory' }, false],
    ['the reason of a container with a pattern', { reason: '*Killed' }, ends(error, oom), true],
    ['Evicted by the condition', { reason: 'Evicted' }, byCondition, true],
    ['Evicted of a pod with another reason', { reason: 'Evicted' }, { reason: 'X', ...byCondition }, false],
    ['any of some exit codes', { exitCodes: [2, 137] }, ends(error, oom), true],
    ['an exit code of Windows', { exitCodes: [-1073741510] }, ends(end(-1073741510, 'Error')), true],
    ['the exit code of no container', { exitCodes: [0] }, ends(), false],
    ['both of one container', { reason: 'OOMKilled', exitCodes: [137] }, ends(error, oom), true],
    ['one each of two containers', { reason: 'OOMKilled', exitCodes: [1] }, ends(error, oom), false],
    [
      'the reason of the pod and the exit code of a container',
      { reason: 'Evicted', exitCodes: [1] },
      { reason: 'Evicted', ...ends(error) },
      true,
    ],
    ['a pod in another phase', { phase: 'Succeeded', reason: 'Error' }, ends(error), false],
    ['a message', { messagePattern: '*the end' }, evictedWith(1), true],
    ['a message of 800 bytes', { messagePattern: '*the end' }, evictedWith(264), true],
    ['a message of 300 KB', { messagePattern: '€*the end' }, evictedWith(100_000), true],
    ['another end of a message of 300 KB', { messagePattern: '*an end' }, evictedWith(100_000), false],
    ['a message in another state', { reason: 'Evicted', messagePattern: 'x' }, evictedWith(1), false],
    ['a reason of 300 KB', { reason: '*the end' }, { reason: `${'x'.repeat(300_000)}the end` }, true],
    ['a long reason of a container', { reason: 'x*y' }, ends(end(1, `${'x'.repeat(9_000)}y`)), true],
    [
      'the hundredth end',
      { exitCodes: [100] },
      ends(...Array.from({ length: 100 }, (_, i) => end(i + 1, 'E'))),
      true,
    ],
  ])('%s', (_name, rule, status, expected) => {
    expect(matches(rule, status)).toBe(expected);
  });
});

test('only entries that were known when a pod was read are known, and only finished pods are compared', () => {
  const [first, second] = [ttlRuleKey({ reason: 'Evicted' }), ttlRuleKey({ messagePattern: '*disk*' })];
  let keys = new Set([first]);
  const codec = podCodec(() => keys);
  const object = pod({ phase: 'Failed', reason: 'Evicted', message: 'the disk is full' });
  const before = codec.fromJson(object);
  expect([before.ttlRules.get(first), before.ttlRules.get(second)]).toEqual([true, undefined]);
  keys = new Set([first, second]);
  const after = codec.fromJson(object, new Map([[before.uid, before]]));
  expect([after.ttlRules.get(first), after.ttlRules.get(second)]).toEqual([true, true]);
  expect(codec.fromJson(object, new Map([[after.uid, after]]))).toBe(after);
  expect(codec.fromJson(pod({ phase: 'Running' })).ttlRules.size).toBe(0);
  expect(codec.fromJson(pod({ phase: 'Failed' }, { uid: 'other' })).ttlRules.get(first)).toBe(false);
});

test('pods with equal results share them, also after many others', () => {
  const rules = Array.from({ length: 13 }, (_, i) => ttlRuleKey({ messagePattern: `*<${i}>*` }));
  const keys = new Set(rules);
  const codec = podCodec(() => keys);
  const read = (number: number) => {
    const message = rules.map((_, i) => ((number >> i) & 1 ? `<${i}>` : '')).join('');
    return codec.fromJson(pod({ phase: 'Failed', message })).ttlRules;
  };
  expect(read(5)).toBe(read(5));
  for (let number = 0; number < 5_000; number += 1) read(number);
  expect(read(5)).toEqual(new Map(rules.map((key, i) => [key, i === 0 || i === 2])));
});
