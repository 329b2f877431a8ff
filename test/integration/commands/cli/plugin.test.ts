import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examples } from '../plan/fixture.ts';

const repository = 'https://example.com/team/dustpan';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const archiveOf = (platform: string): string => `kubectl-dustpan-v${version}-${platform}.tar.gz`;
const here = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const platforms = ['linux', 'darwin', 'windows'].flatMap((os) => [`${os}-amd64`, `${os}-arm64`]);
/** The directory of the archives and the manifest. */
const place = mkdtempSync(join(tmpdir(), 'dustpan-plugin-'));

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/executable.ts', `--out=${place}`], { stdio: 'pipe' });
});

afterAll(() => rmSync(place, { recursive: true }));

/** Runs the script of `npm run plugin`. */
function makeManifest(...args: readonly string[]) {
  const script = ['scripts/plugin.ts', `--archives=${place}`, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

interface Manifest {
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly caveats: string;
    readonly platforms: readonly unknown[];
  };
}

const manifestText = (): string => readFileSync(join(place, 'dustpan.yaml'), 'utf8');
const manifest = (): Manifest => load(manifestText()) as Manifest;
const checksum = (platform: string): string =>
  createHash('sha256')
    .update(readFileSync(join(place, archiveOf(platform))))
    .digest('hex');

test('with the archive of one platform the manifest has this one, and no manifest of a release is written', () => {
  const { status, stdout, stderr } = makeManifest();
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${join(place, 'dustpan.yaml')}\n` });
  expect(stderr).toMatch(/^no --repository=URL: [^\n]+\n$/);
  expect(manifest().spec.platforms).toMatchObject([{ sha256: checksum(here), bin: 'kubectl-dustpan' }]);
  const missing = platforms.filter((platform) => platform !== here).map(archiveOf);
  expect(makeManifest(`--repository=${repository}`)).toMatchObject({
    status: 1,
    stderr: `plugin: ${place} lacks ${missing.join(', ')}: run npm run executable on these platforms\n`,
  });
});

test('with all archives the manifest has the fields of krew, and an archive and a checksum for each platform', () => {
  for (const platform of platforms.filter((one) => one !== here))
    writeFileSync(join(place, archiveOf(platform)), platform);
  expect(makeManifest(`--repository=${repository}`)).toMatchObject({ status: 0, stderr: '' });
  const { spec, ...rest } = manifest();
  const apiVersion = 'krew.googlecontainertools.github.com/v1alpha2';
  expect(rest).toMatchObject({ apiVersion, kind: 'Plugin', metadata: { name: 'dustpan' } });
  expect(spec).toMatchObject({ version: `v${version}`, homepage: repository });
  expect(spec['shortDescription']).toMatch(/^[^\n]{10,50}$/);
  // No placeholder and no instruction of the template.
  expect(manifestText()).not.toMatch(/\$\{[A-Z0-9]+\}|npm run/);
  const expected = platforms.map((platform) => {
    const [os = '', arch = ''] = platform.split('-');
    return {
      selector: { matchLabels: { os, arch } },
      uri: `${repository}/releases/download/v${version}/${archiveOf(platform)}`,
      sha256: checksum(platform),
      bin: os === 'windows' ? 'kubectl-dustpan.exe' : 'kubectl-dustpan',
    };
  });
  expect(spec.platforms).toEqual(expected);
});

describe('installed as krew does', () => {
  const store = join(place, 'store');
  const bin = join(place, 'bin');

  beforeAll(() => {
    for (const directory of [store, bin]) mkdirSync(directory);
    execFileSync('tar', ['-xzf', join(place, archiveOf(here)), '-C', store]);
    symlinkSync(join(store, 'kubectl-dustpan'), join(bin, 'kubectl-dustpan'));
    symlinkSync('kubectl-dustpan', join(bin, 'kubectl_complete-dustpan'));
  });

  /** Without `node` on the PATH. */
  function run(name: string, ...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(join(bin, name), args, {
      env: { PATH: bin },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  }

  test('the archive has the program and the licences', () => {
    const list = execFileSync('tar', ['-tzf', join(place, archiveOf(here))], { encoding: 'utf8' });
    expect(list.trim().split('\n')).toEqual(['kubectl-dustpan', 'LICENSE', 'THIRD-PARTY.txt']);
    const third = readFileSync(join(store, 'THIRD-PARTY.txt'), 'utf8');
    for (const name of ['Node\n', 'commander 1', 'winston 3', '@grpc/grpc-js 1'])
      expect(third).toContain(name);
  });

  test('without Node, its help has the name that users type', () => {
    expect(run('kubectl-dustpan', 'plan', '--help')).toContain('  kubectl dustpan plan --policy=');
    symlinkSync(join(store, 'kubectl-dustpan'), join(bin, 'dustpan'));
    expect(run('dustpan', 'plan', '--help')).toContain('  dustpan plan --policy=');
  });

  test('it makes plans and reports, and its link completes words', () => {
    const example = join(examples, 'image-disk-full');
    const files = [`--policy=${example}/policy.json`, `--snapshot=${example}/snapshot`];
    const input = [...files, '--now=2026-01-15T12:00:00Z'];
    expect(run('kubectl-dustpan', 'plan', ...input)).toContain('imagegc on node-1: 2 to remove');
    expect(run('kubectl-dustpan', 'report', ...input)).toContain('<h1>What dustpan would remove</h1>');
    expect(manifest().spec.caveats).toContain('ln -s kubectl-dustpan ');
    expect(run('kubectl_complete-dustpan', 'version', '-o', '')).toBe('table\njson\nyaml\n:4\n');
  });
});
