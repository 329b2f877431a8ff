import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Built } from '../../built.ts';

const root = process.cwd();
const repository = 'https://example.com/team/dustpan';
let built: Built;
/** The directory of the build; below it, the files that krew would install. */
let place: string;

beforeAll(() => {
  built = build();
  place = dirname(dirname(built.main));
  for (const name of ['LICENSE', 'plugins']) symlinkSync(join(root, name), join(place, name));
  makePlugin(`--repository=${repository}`);
});

afterAll(() => {
  built.remove();
});

/** Runs the script of `npm run plugin`; returns its output. */
function makePlugin(...args: readonly string[]): { readonly stdout: string; readonly stderr: string } {
  const script = [join(root, 'scripts/plugin.ts'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, script, { cwd: place, encoding: 'utf8' });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return { stdout, stderr };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly Platform[];
  };
}

interface Platform {
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
  readonly files: readonly { readonly from: string; readonly to: string }[];
  readonly selector: { readonly matchExpressions: readonly { readonly key: string }[] };
}

const outputs = (): string => join(place, 'dist', 'plugin');
const manifestText = (): string => readFileSync(join(outputs(), 'dustpan.yaml'), 'utf8');
const manifest = (): Manifest => load(manifestText()) as Manifest;
const version = (): string =>
  (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const archive = (): Buffer => readFileSync(join(outputs(), `kubectl-dustpan-v${version()}.tar.gz`));

function onlyPlatform(): Platform {
  const [platform, ...others] = manifest().spec.platforms;
  expect(others).toEqual([]);
  if (platform === undefined) throw new Error('no platform');
  return platform;
}

describe('the manifest', () => {
  test('has all fields that krew requires', () => {
    const { apiVersion, kind, metadata, spec } = manifest();
    expect({ apiVersion, kind, name: metadata.name }).toEqual({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      name: 'dustpan',
    });
    expect(spec).toMatchObject({ version: `v${version()}`, homepage: repository });
    expect(spec.shortDescription).toMatch(/^[^\n]{10,50}$/);
    for (const text of [spec['description'], spec['caveats']]) expect(text).toMatch(/\w/);
    const { sha256, bin, selector } = onlyPlatform();
    expect(sha256).toMatch(/^[a-f0-9]{64}$/);
    expect(bin).not.toBe('');
    expect(selector.matchExpressions.map(({ key }) => key)).toEqual(['os']);
  });

  test('has no placeholder and no instruction of the template', () => {
    expect(manifestText()).not.toMatch(/\$\{[A-Z0-9]+\}|npm run/);
  });

  test('has the URL of the release', () => {
    expect(onlyPlatform().uri).toBe(
      `${repository}/releases/download/v${version()}/kubectl-dustpan-v${version()}.tar.gz`,
    );
  });

  test('has the sum of the archive', () => {
    expect(onlyPlatform().sha256).toBe(createHash('sha256').update(archive()).digest('hex'));
  });
});

describe('built again', () => {
  test('the archive is identical, and its checksum is printed', () => {
    const before = archive();
    const { stdout, stderr } = makePlugin(`--repository=${repository}`);
    expect(archive().equals(before)).toBe(true);
    expect(stdout).toBe(`${onlyPlatform().sha256}  dist/plugin/kubectl-dustpan-v${version()}.tar.gz\n`);
    expect(stderr).toBe('');
  });

  test('without a repository, it prints a warning', () => {
    const { stderr } = makePlugin();
    expect(stderr).toMatch(/^no --repository=URL: [^\n]+\n$/);
    expect(onlyPlatform().uri).toMatch(/^\$\{REPOSITORY\}\//);
    makePlugin(`--repository=${repository}`);
  });
});

describe('installed as krew does', () => {
  let bin: string;

  beforeAll(() => {
    const [unpacked, store] = [join(place, 'unpacked'), join(place, 'store')];
    for (const directory of [unpacked, store]) mkdirSync(directory);
    execFileSync('tar', ['-xzf', '-', '-C', unpacked], { input: archive() });
    for (const { from, to } of onlyPlatform().files) {
      mkdirSync(join(store, to), { recursive: true });
      execFileSync('sh', ['-c', `cp -p ${from} "$1"`, 'sh', join(store, to)], { cwd: unpacked });
    }
    bin = join(place, 'bin');
    mkdirSync(bin);
    symlinkSync(join(store, onlyPlatform().bin), join(bin, 'kubectl-dustpan'));
    symlinkSync('kubectl-dustpan', join(bin, 'kubectl_complete-dustpan'));
    symlinkSync(process.execPath, join(bin, 'node'));
    rmSync(unpacked, { recursive: true });
  });

  function run(name: string, ...args: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(join(bin, name), args, {
      env: { PATH: bin },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }

  test('runs with only node on the PATH', () => {
    const { status, stdout, stderr } = run('kubectl-dustpan', 'version');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`dustpan ${version()} `);
  });

  test('its help has the name that users type', () => {
    expect(run('kubectl-dustpan', 'plan', '--help').stdout).toContain('  kubectl dustpan plan --policy=');
  });

  test('makes a plan', () => {
    const example = join(root, 'test/data/examples/terminated-over-threshold');
    const files = [`--policy=${example}/policy.json`, `--snapshot=${example}/snapshot`];
    const { status, stdout, stderr } = run('kubectl-dustpan', 'plan', ...files, '-o', 'yaml');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('kind: Plan');
  });

  test('has every part of the bundle', () => {
    const parts = readdirSync(join(place, 'store', 'dist')).sort();
    expect(parts).toEqual(
      readdirSync(join(place, 'dist'))
        .filter((name) => name.endsWith('.js'))
        .sort(),
    );
  });

  test('the link that the caveats describe completes words', () => {
    expect(manifest().spec['caveats']).toContain('ln -s kubectl-dustpan ');
    expect(run('kubectl_complete-dustpan', 'version', '-o', '').stdout).toBe('table\njson\nyaml\n:4\n');
  });
});
