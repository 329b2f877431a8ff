import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { built } from '../../built.ts';

/** A directory on the PATH with the program under its names, and a directory whose file names are completed. */
let bin: string;
let work: string;

beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'dustpan-bin-'));
  work = mkdtempSync(join(tmpdir(), 'dustpan-work-'));
  for (const name of ['dustpan', 'kubectl_complete-dustpan']) symlinkSync(built.main, join(bin, name));
  const node = join(work, 'snap/nodes/node-1');
  mkdirSync(node, { recursive: true });
  const images = ['app:1.0', 'app:2.0', 'app:2.1', '$(touch oops)'];
  const listed = images.map((tag, i) => ({ id: `sha256:${i}`, repoTags: [tag], repoDigests: [], size: '1' }));
  writeFileSync(join(node, 'images.json'), JSON.stringify({ images: listed }));
  writeFileSync(join(work, 'sandbox.yaml'), '');
});

afterAll(() => {
  for (const place of [bin, work]) rmSync(place, { recursive: true, force: true });
});

function run(command: string, args: readonly string[]): string {
  const PATH = [bin, process.env['PATH']].join(delimiter);
  const env = { PATH, HOME: work, TERM: 'dumb', LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] };
  const { stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env, cwd: work });
  if (error !== undefined) throw error;
  expect(stderr).toBe('');
  return stdout;
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The candidates at the end of a line that bash has split into these words. */
function inBash(line: string, words: readonly string[]): readonly string[] {
  const script = [
    // Outside of a completion, compopt fails.
    'compopt() { echo "compopt $*"; }',
    'source <(dustpan completion bash)',
    'complete -p dustpan | grep -q -- "-F _dustpan" || echo "not registered"',
    `COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_CWORD=${words.length - 1}`,
    `COMP_WORDS=(${words.map(quoted).join(' ')})`,
    '_dustpan',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ];
  return linesOf(run('bash', ['--norc', '-c', script.join('\n')]));
}

const noFiles = 'compopt +o default';

describe('in bash', () => {
  test.each([
    ['plan --ke', ['plan', '--ke'], [noFiles, '--kept']],
    ['plan -o ', ['plan', '-o', ''], [noFiles, 'table', 'wide', 'json', 'yaml', 'name']],
    ['plan --output=j', ['plan', '--output', '=', 'j'], [noFiles, 'json']],
    // Where = does not break words.
    ['plan --output=j', ['plan', '--output=j'], [noFiles, '--output=json']],
    [
      'plan --now=2026-01-01T00:00:00Z --ke',
      ['plan', '--now', '=', '2026-01-01T00', ':', '00', ':', '00Z', '--ke'],
      [noFiles, '--kept'],
    ],
    // The candidate replaces what follows the last colon, and in the second case the whole word.
    [
      'why --snapshot=snap image app:2',
      ['why', '--snapshot', '=', 'snap', 'image', 'app', ':', '2'],
      [noFiles, '2.0', '2.1'],
    ],
    [
      'why --snapshot=snap image app:2',
      ['why', '--snapshot', '=', 'snap', 'image', 'app:2'],
      [noFiles, 'app:2.0', 'app:2.1'],
    ],
    [
      'why --snapshot=snap image app:',
      ['why', '--snapshot', '=', 'snap', 'image', 'app', ':'],
      [noFiles, '1.0', '2.0', '2.1'],
    ],
    [
      'why --snapshot snap image/a',
      ['why', '--snapshot', 'snap', 'image/a'],
      [noFiles, 'image/app:1.0', 'image/app:2.0', 'image/app:2.1'],
    ],
    // No command of the line runs.
    [
      "plan --policy='$(touch oops) b' --ke",
      ['plan', '--policy', '=', "'$(touch oops) b'", '--ke'],
      [noFiles, '--kept'],
    ],
    // Bash completes directories, and files.
    ['snapshot s', ['snapshot', 's'], ['compopt +o default -o dirnames']],
    ['plan --policy ', ['plan', '--policy', ''], []],
  ])('%s as %j', (line, words, offered) => {
    expect(inBash(`dustpan ${line}`, ['dustpan', ...words])).toEqual(offered);
    expect(existsSync(join(work, 'oops'))).toBe(false);
  });
});

/** The candidates in zsh, whose own functions are replaced by ones that print their arguments. */
function inZsh(words: readonly string[]): readonly string[] {
  const script = [
    'compdef() { :; }',
    '_files() { echo "files $*"; }',
    '_describe() { printf "%s\n" "${(@P)2}"; }',
    'compset() { echo "compset $*"; }',
    'source <(dustpan completion zsh)',
    `words=(${words.map(quoted).join(' ')}) CURRENT=${words.length} PREFIX=${quoted(words.at(-1) ?? '')}`,
    '_dustpan',
  ];
  return linesOf(run('zsh', ['-f', '-c', script.join('\n')]));
}

/** The candidates in fish. */
const inFish = (line: string): readonly string[] =>
  linesOf(
    run('fish', ['--no-config', '-c', `dustpan completion fish | source; complete -C ${quoted(line)}`]),
  );

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

test.skipIf(!isInstalled('zsh'))('zsh (if installed) offers commands, values and directories', () => {
  const [first, second] = inZsh(['dustpan', 'co']);
  expect(first).toBe('controller:deletes garbage pods as the GCPolicies define');
  expect(second).toMatch(/^completion:/);
  expect(inZsh(['dustpan', 'plan', '--output=j'])).toEqual(['compset -P *=', 'json']);
  expect(inZsh(['dustpan', 'snapshot', 's'])).toEqual(['files -/']);
});

test.skipIf(!isInstalled('fish'))(
  'fish (if installed) offers commands, values, directories and files',
  () => {
    expect(inFish('dustpan pl')).toEqual(['plan\tlists what would be removed, and why']);
    expect(inFish('dustpan plan --output=j')).toEqual(['--output=json']);
    expect(inFish('dustpan snapshot s')).toEqual(['snap/\tDirectory']);
    expect(inFish('dustpan plan --policy s').toSorted()).toEqual(['sandbox.yaml', 'snap/']);
  },
);

test('kubectl_complete-dustpan prints the same candidates', () => {
  expect(run(join(bin, 'kubectl_complete-dustpan'), ['plan', '-o', 'j'])).toBe('json\n:4\n');
});
