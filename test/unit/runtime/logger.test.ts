import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Logger } from '../../../src/runtime/logging/logger.ts';
import { createLogger, type LoggerOptions } from '../../../src/runtime/logging/winston-logger.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { hostile, hostileText, raw } from '../../hostile.ts';

/** The lines that `write` logs, without their line feeds. */
function linesOf(writeTo: (log: Logger) => void, options: Partial<LoggerOptions> = {}): string[] {
  const written: string[] = [];
  const write = (line: string) => written.push(line);
  writeTo(createLogger({ format: 'json', verbosity: 2, write, clock: new FakeClock(), ...options }));
  return written.flatMap((chunk) => chunk.replace(/\n$/, '').split('\n'));
}

const fieldsOf = (fields: object): object => {
  const [line = ''] = linesOf((log) => {
    log.info(fields, 'm');
  });
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === 'object' && parsed !== null ? parsed : {};
};

const ts = '2026-01-15T12:00:00.000Z';

describe('json lines', () => {
  test('have the head first and are written before the call returns', () => {
    const lines = linesOf((log) => {
      log.named('podgc').info({ pod: { namespace: 'a', name: 'b' }, reason: 'Expired' }, 'deleting pod');
    });
    const expected =
      `{"ts":"${ts}","level":"info","v":2,"logger":"podgc","msg":"deleting pod",` +
      '"pod":{"namespace":"a","name":"b"},"reason":"Expired"}';
    expect(lines).toEqual([expected]);
  });

  test('nested names are joined', () => {
    const lines = linesOf((log) => {
      log.named('podgc').named('pacing').warn({}, 'slow');
    });
    expect(lines).toEqual([`{"ts":"${ts}","level":"warn","logger":"podgc.pacing","msg":"slow"}`]);
  });

  test('no field can replace the level, the time or the message', () => {
    expect(fieldsOf({ level: 'error', msg: 'x', ts: 0, v: 9, a: 1 })).toEqual({
      ...{ ts, level: 'info', v: 2, msg: 'm', a: 1 },
    });
  });

  test('the error is last, in one line with its causes', () => {
    const err = new Error('listing pods', { cause: new Error('connect ECONNREFUSED') });
    const [line = ''] = linesOf((log) => {
      log.error({ err, loop: 'podgc' }, 'pass failed');
    });
    expect(line).toMatch(/"loop":"podgc","err":"listing pods: connect ECONNREFUSED"}$/);
  });

  test.each([
    {
      name: 'a whole pod is a reference',
      value: { namespace: 'a', name: 'b', uid: 'u', labels: { x: 'y' } },
      expected: { namespace: 'a', name: 'b' },
    },
    {
      name: 'a whole node is a reference',
      value: { name: 'n', uid: 'u', labels: {} },
      expected: { name: 'n' },
    },
    {
      name: 'an owner keeps its kind',
      value: { kind: 'Job', name: 'j', uid: 'u' },
      expected: { kind: 'Job', name: 'j' },
    },
    { name: 'an invalid date', value: new Date(NaN), expected: 'invalid date' },
    { name: 'a date', value: new Date(0), expected: '1970-01-01T00:00:00.000Z' },
    { name: 'a map', value: new Map([['a', 1]]), expected: { a: 1 } },
    { name: 'a function', value: () => 1, expected: undefined },
    { name: 'a big integer', value: 12n, expected: '12' },
    { name: 'a set', value: new Set(['a']), expected: ['a'] },
    { name: 'NaN', value: NaN, expected: 'NaN' },
    { name: 'null', value: null, expected: null },
    {
      name: 'a bearer token in a text',
      value: 'Authorization: Bearer abc.def',
      expected: 'Authorization: Bearer [redacted]',
    },
    {
      name: 'a bare token in a text',
      value: 'got eyJhbGciOi.eyJpc3Mi.c2ln from',
      expected: 'got [redacted] from',
    },
    {
      name: 'two tokens in a text with the word Bearer',
      value: 'a Bearer sent Bearer x, then eyJa.eyJb.c',
      expected: 'a Bearer [redacted] Bearer [redacted] then [redacted]',
    },
    { name: 'a secret by its key', value: { token: 'abc' }, expected: { token: '[redacted]' } },
    { name: 'a path to a secret', value: { tokenFile: '/x' }, expected: { tokenFile: '/x' } },
  ])('value: $name', ({ value, expected }) => {
    expect(fieldsOf({ value })).toEqual({ ts, level: 'info', v: 2, msg: 'm', value: expected });
  });

  test('a cycle is cut', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(JSON.stringify(fieldsOf({ cycle }))).toContain('[too deep]');
  });
});

describe('verbosity', () => {
  const everything = (log: Logger): void => {
    log.error({}, 'error');
    log.warn({}, 'warn');
    log.info({}, 'info');
    log.debug({}, 'debug');
  };
  test.each([
    { verbosity: 0, expected: ['error', 'warn'] },
    { verbosity: 1, expected: ['error', 'warn'] },
    { verbosity: 2, expected: ['error', 'warn', 'info'] },
    { verbosity: 3, expected: ['error', 'warn', 'info'] },
    { verbosity: 4, expected: ['error', 'warn', 'info', 'debug'] },
  ])('$verbosity shows $expected', ({ verbosity, expected }) => {
    const levels = linesOf(everything, { verbosity }).map((line) => /"level":"(\w+)"/.exec(line)?.[1]);
    expect(levels).toEqual(expected);
  });

  test.each([
    { verbosity: 4, stack: false },
    { verbosity: 5, stack: true },
  ])('a stack at $verbosity: $stack', ({ verbosity, stack }) => {
    const [line = ''] = linesOf(
      (log) => {
        log.error({ err: new Error('no') }, 'pass failed');
      },
      { verbosity },
    );
    expect(line.includes('logger.test.ts')).toBe(stack);
  });
});

describe('text lines', () => {
  test.each([
    { name: 'a reference', fields: { pod: { namespace: 'a', name: 'b' } }, expected: 'pod=a/b' },
    { name: 'a text with spaces', fields: { why: 'too old' }, expected: 'why="too old"' },
    { name: 'a number', fields: { deleted: 3 }, expected: 'deleted=3' },
    { name: 'a list', fields: { names: ['a'] }, expected: 'names=["a"]' },
    { name: 'nothing', fields: { none: undefined }, expected: '' },
    {
      name: 'a name that contains another field',
      fields: { pod: { namespace: 'a', name: 'b reason=Expired' } },
      expected: 'pod="a/b reason=Expired"',
    },
    { name: 'a key', fields: { 'a\u009b b': 1 }, expected: String.raw`"a\u009b b"=1` },
  ])('$name', ({ fields, expected }) => {
    const lines = linesOf(
      (log) => {
        log.named('podgc').info(fields, 'deleting pod');
      },
      { format: 'text' },
    );
    expect(lines).toEqual([`${ts} INFO  podgc: deleting pod ${expected}`.trimEnd()]);
  });
});

describe.each(['json', 'text'] as const)('a line as %s', (format) => {
  const lineOf = (text: string): string => {
    const lines = linesOf(
      (log) => {
        const err = new Error(text, { cause: new Error(text) });
        const fields = { [`k${text}`]: text, pod: { namespace: text, name: text }, list: [text], err };
        log.named(text).error(fields, text);
      },
      { format, verbosity: 5 },
    );
    expect(lines).toHaveLength(1);
    return lines[0] ?? '';
  };

  test('escapes text that would clear the screen or forge another line', () => {
    expect(lineOf(hostile)).not.toMatch(raw);
    expect(lineOf(hostile)).toContain(String.raw`\u009b2J`);
    expect(lineOf(hostile)).toContain(String.raw`\u202e`);
  });

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
