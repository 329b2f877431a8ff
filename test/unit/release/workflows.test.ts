import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join('.github', 'workflows');
const names = readdirSync(folder);
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
const workflow = (name: string): Workflow => load(text(name)) as Workflow;
const stepsOf = (name: string): readonly Step[] =>
  Object.values(workflow(name).jobs).flatMap(({ steps = [] }) => steps);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

describe.each(names)('%s', (name) => {
  test('has only the right to read, unless a job declares more', () => {
    expect(workflow(name).permissions).toEqual({ contents: 'read' });
  });

  test('each job has a timeout', () => {
    for (const { uses, 'timeout-minutes': minutes } of Object.values(workflow(name).jobs))
      expect(uses !== undefined || minutes !== undefined).toBe(true);
  });

  test('each action is pinned by commit, beside its version, and has a known publisher', () => {
    const used = stepsOf(name).flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(used.length).toBeGreaterThan(0);
    for (const one of used)
      expect(one).toMatch(/^(actions|anchore|docker|github|ossf|sigstore)\/[a-z/-]+@[0-9a-f]{40}$/);
    const versions = [...text(name).matchAll(/uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm)];
    expect(versions).toHaveLength(used.length);
  });

  test('no expression is interpolated into a shell script', () => {
    for (const { run = '' } of stepsOf(name)) expect(run).not.toContain('${{');
  });

  test('the only secret is the token of the workflow', () => {
    expect([...text(name).matchAll(/secrets\.(\w+)/g)].every(([, which]) => which === 'GITHUB_TOKEN')).toBe(
      true,
    );
  });

  test('each script is valid bash', () => {
    for (const { run = '' } of stepsOf(name)) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
  });

  test('each referenced npm script and step exists', () => {
    const run = stepsOf(name).map((step) => step.run ?? '');
    for (const [, script = ''] of run.join('\n').matchAll(/npm run (\S+)/g))
      expect(scripts).toHaveProperty([script]);
    const ids = stepsOf(name).flatMap(({ id }) => (id === undefined ? [] : [id]));
    for (const [, id = ''] of text(name).matchAll(/steps\.(\w+)\./g)) expect(ids).toContain(id);
  });

  test('no checkout stores the token for later steps', () => {
    const checkouts = stepsOf(name).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const one of checkouts) expect(one.with).toMatchObject({ 'persist-credentials': false });
  });
});

test('ci runs .ci/run', () => {
  expect(stepsOf('ci.yml').some(({ run }) => run?.endsWith('.ci/run'))).toBe(true);
  expect(existsSync('.ci/run')).toBe(true);
});

describe('a release', () => {
  const { on, jobs } = workflow('release.yml');
  const { publish, executable } = jobs;
  const run = (publish?.steps ?? []).map((step) => step.run ?? '').join('\n');
  const order = (...parts: readonly string[]): readonly number[] => parts.map((part) => run.indexOf(part));

  test('runs only for a tag, after all tests', () => {
    expect(Object.keys(on)).toEqual(['push']);
    expect(on['push']).toEqual({ tags: [expect.stringMatching(/^v/)] });
    expect(jobs['test']?.uses).toBe('./.github/workflows/ci.yml');
    expect(publish?.needs).toContain('test');
    expect(workflow('ci.yml').on).toHaveProperty('workflow_call');
  });

  test('builds the image for two architectures, with SBOM and provenance, from base images fixed by digest', () => {
    const [image] = (publish?.steps ?? []).filter(({ id }) => id === 'image');
    expect(image?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      push: true,
      sbom: true,
      provenance: 'mode=max',
    });
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const given = String(image?.with?.['build-args']).trim().split('\n');
    for (const argument of given)
      expect(dockerfile).toMatch(new RegExp(`^ARG ${argument.split('=')[0] ?? ''}=`, 'm'));
    for (const base of ['BUILD_IMAGE', 'NODE_IMAGE']) {
      expect(dockerfile.match(new RegExp(`^ARG ${base}=\\S+$`, 'gm'))).toHaveLength(1);
      expect(given).toContain(`${base}=\${{ steps.bases.outputs.${base} }}`);
    }
  });

  test('signs image, chart and every file', () => {
    expect(run).toContain('cosign sign --yes --recursive "$IMAGE"');
    expect(run).toContain('cosign sign --yes "$CHARTS/dustpan@$digest"');
    expect(run).toContain('cosign sign-blob --yes');
    expect(publish?.permissions).toEqual({
      ...{ contents: 'write', packages: 'write', 'id-token': 'write', attestations: 'write' },
    });
  });

  test('only one job may write', () => {
    const writers = Object.entries(jobs).filter(([, { permissions }]) => permissions !== undefined);
    expect(writers.map(([name]) => name)).toEqual(['publish']);
  });

  test('has the plugin of every platform before the manifest with their checksums', () => {
    expect(executable?.strategy?.matrix['os']).toHaveLength(6);
    const upload = executable?.steps?.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'));
    expect(upload?.with).toMatchObject({
      name: 'executable-${{ matrix.os }}',
      path: 'dist/executable/*.tar.gz',
      'if-no-files-found': 'error',
    });
    expect(publish?.needs).toContain('executable');
    const steps = publish?.steps ?? [];
    const download = steps.findIndex(({ uses }) => uses?.startsWith('actions/download-artifact@'));
    expect(steps[download]?.with).toEqual({
      pattern: 'executable-*',
      path: 'dist/executable',
      'merge-multiple': true,
    });
    expect(steps.findIndex((step) => step.run?.includes('npm run plugin'))).toBeGreaterThan(download);
  });

  test.each([
    { of: 'image', subject: { 'subject-digest': '${{ steps.image.outputs.digest }}' }, kinds: ['SBOM'] },
    {
      ...{ of: 'chart', subject: { 'subject-digest': '${{ steps.chart.outputs.digest }}' } },
      kinds: ['provenance', 'SBOM'],
    },
    {
      ...{ of: 'plugin', subject: { 'subject-path': 'dist/executable/*.tar.gz' } },
      kinds: ['provenance', 'SBOM'],
    },
  ])('attests for the $of: $kinds', ({ subject, kinds }) => {
    const [[key, value] = []] = Object.entries(subject);
    const attested = (publish?.steps ?? []).filter(
      (step) => step.uses?.startsWith('actions/attest@') && step.with?.[key ?? ''] === value,
    );
    const sbom = 'dist/dustpan.cdx.json';
    expect(attested.map((step) => step.with?.['sbom-path'])).toEqual(
      kinds.map((kind) => (kind === 'SBOM' ? sbom : undefined)),
    );
    for (const step of attested)
      if ('subject-name' in (step.with ?? {})) expect(step.with).toMatchObject({ 'push-to-registry': true });
  });

  test('creates its files before it publishes them', () => {
    const steps = order(
      ...['npm run plugin', 'npm run manifests', 'npm run sbom'],
      ...['helm package', 'helm push', 'gh release create'],
    );
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(Math.min(...steps)).toBeGreaterThan(-1);
    for (const asset of [
      ...['crds.yaml', 'install.yaml', 'dustpan-$VERSION.tgz'],
      ...['dist/executable/*.tar.gz', 'krew-dustpan.yaml', 'dustpan.cdx.json'],
    ])
      expect(run).toContain(asset);
  });
});
