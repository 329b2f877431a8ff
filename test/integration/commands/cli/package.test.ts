import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build, type Built } from '../../built.ts';
import { examples } from '../plan/fixture.ts';

let built: Built;
/** The directory in which the package is installed. */
let place: string;
let program: string;
const example = join(examples, 'image-disk-full');
const planArgs = [
  `--snapshot=${example}/snapshot`,
  `--policy=${example}/policy.json`,
  '--now=2026-01-15T12:00:00Z',
];

const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  });

beforeAll(() => {
  built = build();
  const source = dirname(dirname(built.main));
  cpSync(join(process.cwd(), 'crds'), join(source, 'crds'), { recursive: true });
  npm(['pack', '--ignore-scripts'], source);
  const tarball = readdirSync(source).find((name) => name.endsWith('.tgz')) ?? '';
  place = join(source, 'installed');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{"private": true}');
  npm(['install', '--omit=optional', '--ignore-scripts', join(source, tarball)], place);
  program = join(place, 'node_modules', '.bin', 'dustpan');
});
afterAll(() => {
  built.remove();
});

const dustpan = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [program, ...args], { cwd: place, encoding: 'utf8', stdio: 'pipe' });

test('the package installs without a network, as it needs no other', () => {
  expect(readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'dustpan',
  ]);
  expect(readdirSync(join(place, 'node_modules', 'dustpan')).toSorted()).toEqual([
    'crds',
    'dist',
    'package.json',
  ]);
});

test('an executable runs without Node, and its archive has the licences', () => {
  const root = process.cwd();
  const script = [join(root, 'scripts', 'executable.ts'), `--out=${place}`];
  const printed = execFileSync(process.execPath, script, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  const [file = '', archive = ''] = printed.trim().split('\n');
  const run = (...args: readonly string[]): string =>
    execFileSync(file, args, { env: { PATH: '/nonexistent' }, encoding: 'utf8', stdio: 'pipe' });
  expect(run('version')).toMatch(/^dustpan /);
  expect(run('plan', ...planArgs)).toContain('imagegc on node-1: 2 to remove');
  expect(run('report', ...planArgs)).toContain('<h1>What dustpan would remove</h1>');
  expect(run('completion', 'bash')).toContain('dustpan');
  const list = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' });
  expect(list.trim().split('\n')).toEqual(['dustpan', 'LICENSE', 'THIRD-PARTY.txt']);
  const third = execFileSync('tar', ['-xzOf', archive, 'THIRD-PARTY.txt'], { encoding: 'utf8' });
  for (const name of ['Node\n', 'commander 1', 'winston 3', '@grpc/grpc-js 1']) expect(third).toContain(name);
});

test('its program runs', () => {
  expect(dustpan('version')).toMatch(/^dustpan /);
  expect(dustpan('plan', ...planArgs)).toContain('imagegc on node-1: 2 to remove');
  expect(dustpan('report', ...planArgs)).toContain('<h1>What dustpan would remove</h1>');
  expect(dustpan('completion', 'bash')).toContain('dustpan');
});
