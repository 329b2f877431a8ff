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
} from '../../../../src/process/option.ts';
import { parsed } from '../../../fakes/command-line.ts';

const help = 'An option.';
const command = () =>
  new LenientCommand('x')
    .argument('[WORD...]')
    .option('-f, --file <FILE>', help, text())
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

const numbers = { burst: 100, kubeApiQps: 50, period: 20_000, v: 2 };
const defaults = { ...numbers, place: '/x', elect: true, watch: false, logFormat: 'json', address: ':8080' };

describe('values', () => {
  test.each<readonly [string, readonly string[], object]>([
    ['defaults', [], {}],
    ['a fraction', ['--kube-api-qps=.5'], { kubeApiQps: 0.5 }],
    ['a duration in days', ['--period=1d12h'], { period: 129_600_000 }],
    ['a switch', ['--watch'], { watch: true }],
    ['a switch turned off as Go reads it', ['--elect=F'], { elect: false }],
    ['an address', ['--address=[::1]:0'], { address: '[::1]:0' }],
    ['a short form with =', ['-v=4'], { v: 4 }],
    ['short forms in one word with =', ['-wv=4'], { watch: true, v: 4 }],
    ['short forms in one word, the value in the next', ['-wv', '4'], { watch: true, v: 4 }],
    ['a short form and a text with =', ['-fa=b'], { file: 'a=b' }],
    [
      'a value that looks like an option',
      ['--file', '-v=4', '--place', '--x=y'],
      { file: '-v=4', place: '--x=y' },
    ],
    ['an empty text counts as none', ['--file=a', '--file='], { file: undefined }],
    ['a repeated option', ['--policy=a', '--policy', 'b'], { policy: ['a', 'b'] }],
  ])('%s', (_, argv, expected) => {
    expect(parsed(command(), argv).opts()).toEqual({ ...defaults, ...expected });
  });

  test.each([
    ['a list, one value a line', { DUSTPAN_POLICY: 'a\nb\n' }, [], { policy: ['a', 'b'] }],
    [
      'the command line wins',
      { DUSTPAN_KUBE_API_QPS: '5', DUSTPAN_POLICY: 'a' },
      ['--kube-api-qps=6', '--policy=b'],
      { kubeApiQps: 6, policy: ['b'] },
    ],
    [
      'an invalid variable that the command line overrides',
      { DUSTPAN_KUBE_API_QPS: 'x' },
      ['--kube-api-qps=6'],
      { kubeApiQps: 6 },
    ],
  ])('environment: %s', (_, env, argv, expected) => {
    expect(parsed(command(), argv, env).opts()).toEqual({ ...defaults, ...expected });
  });
});

test.each([
  { name: 'the word after a switch is an argument', argv: ['--watch', 'a', '-w', 'b'], expected: ['a', 'b'] },
  { name: 'after -- nothing is an option', argv: ['--', '--watch', '-v=4'], expected: ['--watch', '-v=4'] },
  { name: 'a dash alone is an argument', argv: ['-'], expected: ['-'] },
])('$name', ({ argv, expected }) => {
  expect(parsed(command(), argv).processedArgs).toEqual([expected]);
});
