import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examples } from '../plan/fixture.ts';

/** A checkout whose dist/ no other test runs. */
const source = mkdtempSync(join(tmpdir(), 'dustpan-package-'));
/** The directory in which the package is installed. */
const place = join(source, 'installed');

const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
    cwd,
    // Without the packages that this machine has stored.
    env: { ...process.env, npm_config_cache: join(source, 'cache') },
    encoding: 'utf8',
    stdio: 'pipe',
  });

beforeAll(() => {
  const root = process.cwd();
  for (const name of ['package.json', 'README.md', 'LICENSE', 'crds'])
    cpSync(join(root, name), join(source, name), { recursive: true });
  for (const name of ['src', 'scripts', 'node_modules', 'tsconfig.json'])
    symlinkSync(join(root, name), join(source, name));
  npm(['pack'], source);
  const tarball = readdirSync(source).find((name) => name.endsWith('.tgz')) ?? '';
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{"private": true}');
  npm(['install', join(source, tarball)], place);
});
afterAll(() => rmSync(source, { recursive: true }));

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [join(place, 'node_modules', '.bin', program), ...args], {
    cwd: place,
    encoding: 'utf8',
    stdio: 'pipe',
  });

test('npm pack builds the package, which installs without a network, as it needs no other', () => {
  const installed = readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['dustpan']);
  expect(readdirSync(join(place, 'node_modules', 'dustpan')).toSorted()).toEqual([
    ...['LICENSE', 'README.md', 'crds', 'dist', 'package.json'],
  ]);
  // npm skips an optional dependency in silence where it has no network.
  const facts = readFileSync(join(place, 'node_modules', 'dustpan', 'package.json'), 'utf8');
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'];
  expect(Object.keys(JSON.parse(facts) as object).filter((key) => kinds.includes(key))).toEqual([]);
});

test("its program runs, and its links are kubectl's plugin", () => {
  const example = join(examples, 'image-disk-full');
  const files = [`--policy=${example}/policy.json`, `--snapshot=${example}/snapshot`];
  const input = [...files, '--now=2026-01-15T12:00:00Z'];
  expect(run('dustpan', 'plan', ...input)).toContain('imagegc on node-1: 2 to remove');
  expect(run('dustpan', 'report', ...input)).toContain('<h1>What dustpan would remove</h1>');
  expect(run('kubectl-dustpan', 'plan', '--help')).toContain('  kubectl dustpan plan --policy=');
  expect(run('kubectl_complete-dustpan', 'version', '-o', '')).toBe('table\njson\nyaml\n:4\n');
});
