import { describe, expect, test } from 'vitest';
import {
  addressFlag,
  boolFlag,
  durationFlag,
  enumFlag,
  intFlag,
  listFlag,
  numberFlag,
  stringFlag,
} from '../../../src/cli/flag-types.ts';
import { parseFlags, type FlagTable } from '../../../src/cli/flags.ts';

const help = 'A flag.';
const flags = {
  file: stringFlag({ name: 'file', placeholder: 'FILE', default: '', help }),
  burst: intFlag({ name: 'burst', default: '100', min: 1, help }),
  qps: numberFlag({ name: 'kube-api-qps', default: '50', help }),
  period: durationFlag({ name: 'period', default: '20s', min: 1_000, help }),
  elect: boolFlag({ name: 'elect', default: 'true', help }),
  format: enumFlag({ name: 'log-format', values: ['json', 'text'], default: 'json', help }),
  address: addressFlag({ name: 'address', default: ':8080', help }),
  v: intFlag({ name: 'v', short: 'v', default: '2', max: 10, help }),
};

const table: FlagTable = Object.values(flags);

/** Every value, and what else the line says. */
function parsed(argv: readonly string[], env: Record<string, string> = {}) {
  const { value, problems, args, help: wantsHelp } = parseFlags(table, argv, env);
  const values = problems.length > 0 ? {} : Object.fromEntries(table.map((flag) => [flag.name, value(flag)]));
  return { values, problems, args, help: wantsHelp };
}

const defaults = {
  file: '',
  burst: 100,
  'kube-api-qps': 50,
  period: 20_000,
  elect: true,
  'log-format': 'json',
  address: ':8080',
  v: 2,
};

describe('values', () => {
  test.each([
    { name: 'defaults', argv: [], expected: {} },
    { name: 'with =', argv: ['--burst=7'], expected: { burst: 7 } },
    { name: 'as the next word', argv: ['--burst', '7'], expected: { burst: 7 } },
    { name: 'the last of several', argv: ['--burst=7', '--burst=8'], expected: { burst: 8 } },
    { name: 'a fraction', argv: ['--kube-api-qps=.5'], expected: { 'kube-api-qps': 0.5 } },
    { name: 'a duration', argv: ['--period=1h30m'], expected: { period: 5_400_000 } },
    { name: 'a switch', argv: ['--elect'], expected: { elect: true } },
    { name: 'a switch turned off', argv: ['--elect=false'], expected: { elect: false } },
    { name: 'a switch turned off as Go reads it', argv: ['--elect=F'], expected: { elect: false } },
    { name: 'a word of a list', argv: ['--log-format=text'], expected: { 'log-format': 'text' } },
    { name: 'an address', argv: ['--address=[::1]:0'], expected: { address: '[::1]:0' } },
    { name: 'a server turned off', argv: ['--address=0'], expected: { address: '0' } },
    { name: 'a short form', argv: ['-v', '4'], expected: { v: 4 } },
    { name: 'a short form with =', argv: ['-v=4'], expected: { v: 4 } },
    { name: 'a text with = and spaces', argv: ['--file=a=b c'], expected: { file: 'a=b c' } },
    { name: 'a text turned empty', argv: ['--file='], expected: { file: '' } },
  ])('$name', ({ argv, expected }) => {
    expect(parsed(argv)).toMatchObject({ problems: [], args: [], values: { ...defaults, ...expected } });
  });

  test.each([
    { name: 'a variable', env: { DUSTPAN_KUBE_API_QPS: '5' }, argv: [], expected: 5 },
    {
      name: 'the command line wins',
      env: { DUSTPAN_KUBE_API_QPS: '5' },
      argv: ['--kube-api-qps=6'],
      expected: 6,
    },
    { name: 'an empty variable is none', env: { DUSTPAN_KUBE_API_QPS: '' }, argv: [], expected: 50 },
    {
      name: 'a bad variable that is not needed',
      env: { DUSTPAN_KUBE_API_QPS: 'x' },
      argv: ['--kube-api-qps=6'],
      expected: 6,
    },
  ])('environment: $name', ({ env, argv, expected }) => {
    expect(parsed(argv, env).values).toMatchObject({ 'kube-api-qps': expected });
  });
});

describe('problems', () => {
  test.each([
    { argv: ['--kube-api-qp=1'], expected: 'unknown flag --kube-api-qp, did you mean --kube-api-qps?' },
    { argv: ['--completely-else'], expected: 'unknown flag --completely-else' },
    { argv: ['-x'], expected: 'unknown flag -x' },
    { argv: ['-burst=1'], expected: 'unknown flag -burst, did you mean --burst?' },
    { argv: ['--burst'], expected: '--burst needs a value: --burst=N' },
    { argv: ['--burst', '--elect'], expected: '--burst needs a value: --burst=N' },
    { argv: ['--burst='], expected: '--burst: "" is not a whole number' },
    { argv: ['--burst', '-5'], expected: '--burst: -5 is too small, the least is 1' },
    { argv: ['--burst=1.5'], expected: '--burst: "1.5" is not a whole number' },
    { argv: ['--burst=0x10'], expected: '--burst: "0x10" is not a whole number' },
    { argv: ['--v=11'], expected: '--v: 11 is too big, the most is 10' },
    { argv: ['-v=x'], expected: '-v: "x" is not a whole number' },
    { argv: ['--kube-api-qps=-1'], expected: '--kube-api-qps: -1 is too small, the least is 0' },
    { argv: ['--kube-api-qps=fast'], expected: '--kube-api-qps: "fast" is not a number' },
    { argv: ['--kube-api-qps=Infinity'], expected: '--kube-api-qps: "Infinity" is not a number' },
    { argv: ['--period=20'], expected: '--period: "20" is not a duration such as 30s, 5m or 1h30m' },
    { argv: ['--period=-20s'], expected: '--period: -20s is too short, the least is 1s' },
    { argv: ['--period', '-20s'], expected: '--period: -20s is too short, the least is 1s' },
    { argv: ['--period=10ms'], expected: '--period: 10ms is too short, the least is 1s' },
    { argv: ['--period=1000h'], expected: '--period: 1000h is too long, the most is 596h31m23.647s' },
    { argv: ['--elect=perhaps'], expected: '--elect: "perhaps" is neither true nor false' },
    { argv: ['--log-format=xml'], expected: '--log-format: "xml" is none of json, text' },
    {
      argv: ['--address=8080'],
      expected: '--address: "8080" is not an address such as :8080 or 127.0.0.1:8080 (0 = off)',
    },
  ])('$argv', ({ argv, expected }) => {
    expect(parsed(argv).problems).toEqual([expected]);
  });

  test('of a variable names the variable', () => {
    expect(parsed([], { DUSTPAN_PERIOD: 'x' }).problems).toEqual([
      'DUSTPAN_PERIOD: "x" is not a duration such as 30s, 5m or 1h30m',
    ]);
  });

  test('are all told at once', () => {
    expect(parsed(['--burst=x', '--nothing-like-it', '--elect=x']).problems).toHaveLength(3);
  });
});

describe('other words', () => {
  test.each([
    { name: 'arguments', argv: ['a', '--burst=1', 'b'], expected: { args: ['a', 'b'], help: false } },
    {
      name: 'a switch takes no next word',
      argv: ['--elect', 'false'],
      expected: { args: ['false'], help: false },
    },
    {
      name: 'after -- nothing is a flag',
      argv: ['--', '--burst', '-h'],
      expected: { args: ['--burst', '-h'], help: false },
    },
    { name: 'a dash alone is an argument', argv: ['-'], expected: { args: ['-'], help: false } },
    { name: 'help', argv: ['--help'], expected: { args: [], help: true } },
    { name: 'help, short', argv: ['-h'], expected: { args: [], help: true } },
  ])('$name', ({ argv, expected }) => {
    expect(parsed(argv)).toMatchObject({ ...expected, problems: [] });
  });
});

test('a flag that may be given several times keeps all of its values, from the environment a line each', () => {
  const files = listFlag({ name: 'policy', placeholder: 'FILE', help });
  const read = (argv: readonly string[], env = {}) => parseFlags([files], argv, env).value(files);
  expect(read([])).toEqual([]);
  expect(read(['--policy=a', '--policy', 'b'])).toEqual(['a', 'b']);
  expect(read([], { DUSTPAN_POLICY: 'a\nb' })).toEqual(['a', 'b']);
});
