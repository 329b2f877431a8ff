import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../../scripts/manifests/plain.ts';
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
function make(into: string): void {
  const script = [join(root, 'scripts/manifests.ts'), `--out=${into}`];
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
    rmSync(again, { recursive: true });
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
