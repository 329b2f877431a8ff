import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Logger } from '../../../src/runtime/logging/logger.ts';
import { createLogger, type LoggerOptions } from '../../../src/runtime/logging/winston-logger.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { hostileText, raw } from '../../hostile.ts';

/** The lines that `write` logs, without their line feeds. */
function linesOf(writeTo: (log: Logger) => void, options: Partial<LoggerOptions> = {}): string[] {
  const written: string[] = [];
  const write = (line: string) => written.push(line);
  writeTo(createLogger({ format: 'json', verbosity: 2, write, clock: new FakeClock(), ...options }));
  return written.flatMap((chunk) => chunk.replace(/\n$/, '').split('\n'));
}

const fieldsOf = (fields: object): object => {
  const [line = ''] = linesOf((log) => log.info(fields, 'm'));
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === 'object' && parsed !== null ? parsed : {};
};

const ts = '2026-01-15T12:00:00.000Z';

describe('json lines', () => {
  test('have the head first and are written before the call returns', () => {
    const lines = linesOf((log) => {
      log
        .named('podgc')
        .named('pacing')
        .info({ pod: { namespace: 'a', name: 'b' }, reason: 'Expired' }, 'deleting pod');
    });
    const expected =
      `{"ts":"${ts}","level":"info","v":2,"logger":"podgc.pacing","msg":"deleting pod",` +
      '"pod":{"namespace":"a","name":"b"},"reason":"Expired"}';
    expect(lines).toEqual([expected]);
  });

  test('no field can replace the level, the time or the message', () => {
    const fields = fieldsOf({ level: 'error', msg: 'x', ts: 0, v: 9, a: 1 });
    expect(fields).toEqual({ ts, level: 'info', v: 2, msg: 'm', a: 1 });
  });

  test('the error is last, in one line with its causes', () => {
    const err = new Error('listing pods', { cause: new Error('connect ECONNREFUSED') });
    const [line = ''] = linesOf((log) => log.error({ err, loop: 'podgc' }, 'pass failed'));
    expect(line).toMatch(/"loop":"podgc","err":"listing pods: connect ECONNREFUSED"}$/);
  });

  const pod = { namespace: 'a', name: 'b' };
  test.each([
    ['a whole pod is a reference', { ...pod, uid: 'u', labels: { x: 'y' } }, pod],
    [
      'two tokens in a text with the word Bearer',
      'a Bearer sent Bearer x, then eyJa.eyJb.c',
      'a Bearer [redacted] Bearer [redacted] then [redacted]',
    ],
    ['a secret by its key', { token: 'abc' }, { token: '[redacted]' }],
    ['a path to a secret', { tokenFile: '/x' }, { tokenFile: '/x' }],
  ])('value: %s', (_name, value, expected) => {
    expect(fieldsOf({ value })).toEqual({ ts, level: 'info', v: 2, msg: 'm', value: expected });
  });

  test('a cycle is cut', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(JSON.stringify(fieldsOf({ cycle }))).toContain('[too deep]');
  });
});

test.each([
  { verbosity: 1, expected: ['error', 'warn'] },
  { verbosity: 2, expected: ['error', 'warn', 'info'] },
  { verbosity: 4, expected: ['error', 'warn', 'info', 'debug'] },
  { verbosity: 5, expected: ['error', 'warn', 'info', 'debug'], stack: true },
])('verbosity $verbosity shows $expected', ({ verbosity, expected, stack = false }) => {
  const everything = (log: Logger): void => {
    for (const level of ['error', 'warn', 'info', 'debug'] as const)
      log[level]({ err: new Error('no') }, level);
  };
  const lines = linesOf(everything, { verbosity });
  expect(lines.map((line) => /"level":"(\w+)"/.exec(line)?.[1])).toEqual(expected);
  expect(lines.every((line) => line.includes('logger.test.ts'))).toBe(stack);
});

describe('text lines', () => {
  test.each<readonly [string, object, string]>([
    [
      'a name that contains another field',
      { pod: { namespace: 'a', name: 'b reason=Expired' } },
      'pod="a/b reason=Expired"',
    ],
    ['a key', { 'a\u009b b': 1 }, String.raw`"a\u009b b"=1`],
  ])('%s', (_name, fields, expected) => {
    const write = (log: Logger): void => log.named('podgc').info(fields, 'deleting pod');
    const line = `${ts} INFO  podgc: deleting pod ${expected}`.trimEnd();
    expect(linesOf(write, { format: 'text' })).toEqual([line]);
  });
});

describe.each(['json', 'text'] as const)('a line as %s', (format) => {
  const lineOf = (text: string): string => {
    const err = new Error(text, { cause: new Error(text) });
    const fields = { [`k${text}`]: text, pod: { namespace: text, name: text }, list: [text], err };
    const write = (log: Logger): void => log.named(text).error(fields, text);
    const lines = linesOf(write, { format, verbosity: 5 });
    expect(lines).toHaveLength(1);
    return lines[0] ?? '';
  };

  test('escapes every control character', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(lineOf(text)).not.toMatch(raw);
      }),
    );
  });
});

test('escaped JSON keeps its value', () => {
  fc.assert(
    fc.property(hostileText, (value) => {
      expect(fieldsOf({ value })).toHaveProperty('value', value);
    }),
  );
});
