import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../../scripts/manifests/plain.ts';
import { render, template, workload } from '../chart/chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { repositoryRoot } from '../repository.ts';

const root = repositoryRoot();
const out = mkdtempSync(join(tmpdir(), 'dustpan-manifests-'));
let cluster: Cluster;

beforeAll(async () => {
  make(out);
  cluster = await startCluster({ parts: ['etcd', 'api'] });
});

/** The same as `npm run manifests`. */
function make(into: string, ...options: readonly string[]): void {
  const script = [join(root, 'scripts/manifests.ts'), `--out=${into}`, ...options];
  const { status, stderr } = spawnSync(process.execPath, script, { cwd: root, encoding: 'utf8' });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
}

/** Runs kubectl; warnings are failures too. */
async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('kubectl', args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const apply = (file: string, ...args: readonly string[]): Promise<string> =>
  kubectl('apply', '--server-side', '--validate=strict', '-f', file, ...args);
const ready = (): Promise<string> =>
  kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s');

test('crds.yaml installs both kinds, and changes nothing the second time', async () => {
  await apply(join(out, 'crds.yaml'));
  await ready();
  const versions = ['get', 'crd', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'] as const;
  const before = await kubectl(...versions);
  expect(before.split(' ')).toHaveLength(2);
  await apply(join(out, 'crds.yaml'));
  expect(await kubectl(...versions)).toBe(before);
});

describe('install.yaml', () => {
  const text = (): string => readFileSync(join(out, 'install.yaml'), 'utf8');

  test('installs everything on an empty cluster in one step', async () => {
    const applied = await apply(join(out, 'install.yaml'));
    expect(applied).toContain('namespace/dustpan-system');
    expect(applied).toContain('daemonset.apps/dustpan-agent');
    expect(applied).toContain('deployment.apps/dustpan');
    expect(applied.trimEnd().split('\n')).toHaveLength(readManifests(text()).length);
    await ready();
  });

  test("is reproducible, and contains nothing of Helm's", () => {
    const again = mkdtempSync(join(tmpdir(), 'dustpan-manifests-again-'));
    make(again);
    expect(readFileSync(join(again, 'install.yaml'), 'utf8')).toBe(text());
    expect(text()).not.toMatch(/helm\.sh|managed-by: Helm/);
  });
});

test('every example is accepted and stored as written', async () => {
  await ready();
  const files = readdirSync(join(root, 'examples'));
  expect(files.length).toBeGreaterThanOrEqual(5);
  for (const file of files) {
    await apply(join(root, 'examples', file));
    expect(await kubectl('diff', '--server-side', '-f', join(root, 'examples', file))).toBe('');
  }
  const stored = await kubectl('get', 'gcpolicies', '-o', 'jsonpath={.items[*].spec.mode}');
  expect(stored.split(' ')).toEqual(files.map(() => 'DryRun'));
});

describe('a released chart', () => {
  const chart = join(out, 'released/chart/dustpan');
  const released = `sha256:${'a'.repeat(64)}`;
  const other = `sha256:${'b'.repeat(64)}`;

  beforeAll(() => {
    // The same as release.yml.
    make(join(out, 'released'), `--image=r.example.com/o/dustpan@${released}`);
  });

  test.each([
    { name: 'as it comes', set: {}, image: `r.example.com/o/dustpan@${released}` },
    {
      name: 'of a mirror',
      set: { 'global.imageRegistry': 'm.example.com' },
      image: `m.example.com/o/dustpan@${released}`,
    },
    { name: 'with a tag', set: { 'image.tag': '9.9.9' }, image: 'r.example.com/o/dustpan:9.9.9' },
    {
      name: 'with another digest',
      set: { 'image.digest': other },
      image: `r.example.com/o/dustpan@${other}`,
    },
  ])('has the image, $name, $image', async ({ set, image }) => {
    const manifests = await render({ chart, set });
    for (const kind of ['Deployment', 'DaemonSet'] as const)
      expect(workload(manifests, kind).spec.template.spec.containers[0].image).toBe(image);
  });

  test('refuses a tag with a digest', async () => {
    const { code, stderr } = await template({ chart, set: { 'image.tag': '9.9.9', 'image.digest': other } });
    expect(code).toBe(1);
    expect(stderr).toContain('image.tag and image.digest: only one of them can say which image');
  });
});
