import { describe, expect, test } from 'vitest';
import {
  address,
  choice,
  decimal,
  duration,
  integer,
  LenientCommand,
  list,
  onOff,
  text,
  filled,
} from '../../../../src/commands/cli/option.ts';
import { parsed, problemOf } from '../../../fakes/command-line.ts';

const help = 'An option.';
const command = () =>
  new LenientCommand('x')
    .argument('[WORD...]')
    .option('--file <FILE>', help, text())
    .option(
      '--place <DIR>',
      help,
      filled((t) => (t === '' ? 'Use a path.' : undefined)),
      '/x',
    )
    .option('--burst <N>', help, integer({ min: 1 }), 100)
    .option('--kube-api-qps <NUMBER>', help, decimal, 50)
    .addOption(duration('--period <DURATION>', help, '20s'))
    .option('--elect [true|false]', help, onOff, true)
    .option('-w, --watch [true|false]', help, onOff, false)
    .addOption(choice('--log-format <FORMAT>', help, ['json', 'text']))
    .option('--address <ADDRESS>', help, address, ':8080')
    .option('-v, --v <N>', help, integer({ max: 10 }), 2)
    .option('--policy <FILE>', help, list);

const defaults = {
  place: '/x',
  burst: 100,
  kubeApiQps: 50,
  period: 20_000,
  elect: true,
  watch: false,
  logFormat: 'json',
  address: ':8080',
  v: 2,
};

describe('values', () => {
  test.each([
    { name: 'defaults', argv: [], expected: {} },
    { name: 'with =', argv: ['--burst=7'], expected: { burst: 7 } },
    { name: 'as the next word', argv: ['--burst', '7'], expected: { burst: 7 } },
    { name: 'the last of several', argv: ['--burst=7', '--burst=8'], expected: { burst: 8 } },
    { name: 'a fraction', argv: ['--kube-api-qps=.5'], expected: { kubeApiQps: 0.5 } },
    { name: 'a duration', argv: ['--period=1h30m'], expected: { period: 5_400_000 } },
    { name: 'a switch', argv: ['--watch'], expected: { watch: true } },
    { name: 'a short switch', argv: ['-w'], expected: { watch: true } },
    { name: 'a switch turned off', argv: ['--elect=false'], expected: { elect: false } },
    { name: 'a switch turned off as Go reads it', argv: ['--elect=F'], expected: { elect: false } },
    { name: 'one of the choices', argv: ['--log-format=text'], expected: { logFormat: 'text' } },
    { name: 'an address', argv: ['--address=[::1]:0'], expected: { address: '[::1]:0' } },
    { name: 'a server turned off', argv: ['--address=0'], expected: { address: '0' } },
    { name: 'a long time', argv: ['--period=1000h'], expected: { period: 3_600_000_000 } },
    { name: 'a short form', argv: ['-v', '4'], expected: { v: 4 } },
    { name: 'a short form with =', argv: ['-v=4'], expected: { v: 4 } },
    { name: 'a text with = and spaces', argv: ['--file=a=b c'], expected: { file: 'a=b c' } },
    {
      name: 'a value that looks like an option',
      argv: ['--file', '-v=4', '--place', '--x=y'],
      expected: { file: '-v=4', place: '--x=y' },
    },
    { name: 'an empty text counts as none', argv: ['--file=a', '--file='], expected: { file: undefined } },
    { name: 'a repeated option', argv: ['--policy=a', '--policy', 'b'], expected: { policy: ['a', 'b'] } },
  ])('$name', ({ argv, expected }) => {
    expect(parsed(command(), argv).opts()).toEqual({ ...defaults, ...expected });
  });

  test.each([
    { name: 'a variable', env: { DUSTPAN_KUBE_API_QPS: '5' }, argv: [], expected: { kubeApiQps: 5 } },
    { name: 'a switch turned off', env: { DUSTPAN_ELECT: 'false' }, argv: [], expected: { elect: false } },
    {
      name: 'a list, one value a line',
      env: { DUSTPAN_POLICY: 'a\nb\n' },
      argv: [],
      expected: { policy: ['a', 'b'] },
    },
    {
      name: 'the command line wins',
      env: { DUSTPAN_KUBE_API_QPS: '5', DUSTPAN_POLICY: 'a' },
      argv: ['--kube-api-qps=6', '--policy=b'],
      expected: { kubeApiQps: 6, policy: ['b'] },
    },
    {
      name: 'an invalid variable that the command line overrides',
      env: { DUSTPAN_KUBE_API_QPS: 'x' },
      argv: ['--kube-api-qps=6'],
      expected: { kubeApiQps: 6 },
    },
  ])('environment: $name', ({ env, argv, expected }) => {
    expect(parsed(command(), argv, env).opts()).toEqual({ ...defaults, ...expected });
  });
});

describe('problems', () => {
  test.each([
    { argv: ['--kube-api-qp=1'], expected: "unknown option '--kube-api-qp'\n(Did you mean --kube-api-qps?)" },
    { argv: ['-x'], expected: "unknown option '-x'" },
    { argv: ['--burst'], expected: "option '--burst <N>' argument missing" },
    { argv: ['--burst', '--elect'], expected: 'Use a whole number.' },
    { argv: ['--burst='], expected: 'Use a whole number.' },
    { argv: ['--burst', '-5'], expected: "argument '-5' is invalid. The minimum is 1." },
    { argv: ['--burst=1.5'], expected: 'Use a whole number.' },
    { argv: ['--burst=0x10'], expected: 'Use a whole number.' },
    { argv: ['--v=11'], expected: 'The maximum is 10.' },
    { argv: ['-v=x'], expected: "option '-v, --v <N>' argument 'x' is invalid. Use a whole number." },
    { argv: ['--kube-api-qps=-1'], expected: 'The minimum is 0.' },
    { argv: ['--kube-api-qps=fast'], expected: 'Use a number.' },
    { argv: ['--kube-api-qps=Infinity'], expected: 'Use a number.' },
    { argv: ['--period=20'], expected: 'Use a duration such as 30s, 5m or 1h30m.' },
    { argv: ['--period=-20s'], expected: 'The minimum is 1s.' },
    { argv: ['--period', '-20s'], expected: 'The minimum is 1s.' },
    { argv: ['--period=10ms'], expected: 'The minimum is 1s.' },
    { argv: ['--elect=perhaps'], expected: 'Use true or false.' },
    { argv: ['--elect='], expected: 'Use true or false.' },
    { argv: ['--log-format=xml'], expected: 'Allowed choices are json, text.' },
    { argv: ['--address=8080'], expected: 'Use an address such as :8080' },
    { argv: ['--place='], expected: 'Use a path.' },
  ])('$argv', ({ argv, expected }) => {
    expect(problemOf(command(), argv)).toContain(expected);
  });

  test('an invalid variable is named', () => {
    expect(problemOf(command(), [], { DUSTPAN_PERIOD: 'x' })).toContain(
      "value 'x' from env 'DUSTPAN_PERIOD' is invalid",
    );
  });
});

test.each([
  { name: 'arguments', argv: ['a', '--burst=1', 'b'], expected: ['a', 'b'] },
  { name: 'the word after a switch is an argument', argv: ['--watch', 'a', '-w', 'b'], expected: ['a', 'b'] },
  { name: 'after -- nothing is an option', argv: ['--', '--watch', '-v=4'], expected: ['--watch', '-v=4'] },
  { name: 'a dash alone is an argument', argv: ['-'], expected: ['-'] },
])('$name', ({ argv, expected }) => {
  expect(parsed(command(), argv).processedArgs).toEqual([expected]);
});
