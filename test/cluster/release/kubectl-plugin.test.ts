import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { podEntry } from '../controller/environment.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import type { CommandResult } from '../servers/command.ts';
import { etcdClient } from '../servers/etcd.ts';
import { repositoryRoot } from '../repository.ts';
import { policyManifest } from '../../manifests.ts';

const facts: unknown = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'));
const { PATH: pathBefore } = process.env;
/** The unpacked archive of this platform. */
let bin: string;
let cluster: Cluster;

beforeAll(async () => {
  bin = mkdtempSync(join(tmpdir(), 'dustpan-plugin-'));
  const script = ['scripts/executable.ts', `--out=${join(bin, 'archive')}`];
  execFileSync(process.execPath, script, { cwd: repositoryRoot(), stdio: 'pipe' });
  const [archive = ''] = readdirSync(join(bin, 'archive')).filter((name) => name.endsWith('.tar.gz'));
  execFileSync('tar', ['-xzf', join(bin, 'archive', archive), '-C', bin]);
  symlinkSync('kubectl-dustpan', join(bin, 'kubectl_complete-dustpan'));
  cluster = await startCluster({ parts: ['etcd', 'api'], crds: true });
  // Only the plugin: no Node.
  process.env['PATH'] = bin;
});

afterAll(() => {
  process.env['PATH'] = pathBefore;
});

const kubectl = (...args: readonly string[]): Promise<CommandResult> => cluster.run('kubectl', args);

test('kubectl finds the plugin', async () => {
  const { code, stdout } = await kubectl('plugin', 'list');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toContain(join(bin, 'kubectl-dustpan'));
});

test('kubectl runs the plugin: version', async () => {
  const { code, stdout, stderr } = await kubectl('dustpan', 'version', '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(facts).toMatchObject({ version: (JSON.parse(stdout) as { version: string }).version });
});

test('kubectl runs the plugin: the help names kubectl', async () => {
  const { stdout } = await kubectl('dustpan', '--help');
  expect(stdout).toContain('Usage: kubectl dustpan [options] [command]');
});

test('kubectl exits with the code of the plugin', async () => {
  const { code, stdout, stderr } = await kubectl('dustpan', 'paln');
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: "dustpan: unknown command 'paln' (Did you mean plan?); see kubectl dustpan -h\n",
  });
});

test("kubectl runs the plugin: a plan of the cluster in kubectl's kubeconfig", async () => {
  const finished = podEntry('done', { finishedAt: new Date('2026-01-01T00:01:00Z') });
  await etcdClient(cluster.etcdUrl).put([finished]);
  const policy = policyManifest('default', { pods: { terminated: { ttlAfterFinished: '1h' } } });
  const created = await cluster.run('kubectl', ['create', '-f', '-'], JSON.stringify(policy));
  expect(created.code).toBe(0);
  const { code, stdout, stderr } = await kubectl('dustpan', 'plan', '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    decisions: [{ verdict: 'Delete', reason: 'Expired', object: { namespace: 'default', name: 'done' } }],
  });
});

test.each([
  { words: ['pl'], offered: ['plan\tlists what would be removed, and why', ':4'] },
  { words: ['plan', '-o', ''], offered: ['table', 'wide', 'json', 'yaml', 'name', ':4'] },
  { words: ['plan', '--output=j'], offered: ['json', ':4'] },
  { words: ['plan', '--policy', ''], offered: [':0'] },
  { words: ['snapshot', ''], offered: [':16'] },
])('kubectl completes its arguments: $words', async ({ words, offered }) => {
  const { code, stdout } = await kubectl('__complete', 'dustpan', ...words);
  expect(code).toBe(0);
  expect(stdout.split('\n').filter((line) => line !== '')).toEqual(offered);
});
