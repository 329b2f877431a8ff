// @bed node
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, expect, test } from 'vitest';
import { repositoryRoot } from '../repository.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { runCommand } from '../servers/command.ts';

/**
 * Runs the scripts of release.yml that publish and sign, with the real helm and a real registry. cosign and gh need the
 * identity and the servers of GitHub: programs in their place record what they are called with.
 */
interface Step {
  readonly name?: string;
  readonly run?: string;
}
interface Workflow {
  readonly jobs: { readonly publish: { readonly steps: readonly Step[] } };
}

const root = repositoryRoot();
const dir = mkdtempSync(join(tmpdir(), 'dustpan-publish-'));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const { DUSTPAN_BED_BIN: bed = '', PATH = '' } = process.env;
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['registry'] });
  cpSync(join(root, 'helm'), join(dir, 'helm'), { recursive: true });
  const made = [process.execPath, join(root, 'scripts/manifests.ts'), `--out=${join(dir, 'dist/manifests')}`];
  expect(await runCommand(made, { cwd: root })).toMatchObject({ code: 0 });
  mkdirSync(join(dir, 'bin'));
  program(
    'cosign',
    'for arg; do case "$arg" in --bundle=*) echo "signed ${!#}" > "${arg#--bundle=}";; esac; done',
  );
  // The registry of the jail has no TLS.
  program('helm', `if [ "$1" = push ]; then set -- "$@" --plain-http; fi; exec ${join(bed, 'helm')} "$@"`);
  program('gh', '');
  program('npm', 'touch "npm/dustpan-$VERSION.tgz"');
});

/** A program that records its arguments, and then does this. */
function program(name: string, script: string): void {
  const file = join(dir, 'bin', name);
  writeFileSync(file, `#!/bin/bash\necho "$*" >> ${join(dir, `${name}.log`)}\n${script}\n`);
  chmodSync(file, 0o755);
}

const calls = (name: string): string[] =>
  readFileSync(join(dir, `${name}.log`), 'utf8')
    .trim()
    .split('\n');

async function runStep(name: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const workflow = load(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')) as Workflow;
  const step = workflow.jobs.publish.steps.find((one) => one.name === name);
  const env = { PATH: [join(dir, 'bin'), bed, PATH].join(delimiter), HOME: dir, ...variables };
  // The shell of the workflow.
  const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'exit 9'];
  const { code, stdout, stderr } = await runCommand(shell, { cwd: dir, env });
  expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
}

test('both charts are pushed, and what is signed is what the registry has', async () => {
  const charts = `${new URL(cluster.registryUrl).host}/owner/charts`;
  const output = join(dir, 'output');
  await runStep('Chart', { CHARTS: charts, VERSION: version, GITHUB_OUTPUT: output });
  const digestOf = async (chart: string): Promise<string | null> => {
    const url = `${cluster.registryUrl}/v2/owner/charts/${chart}/manifests/${version}`;
    const accept = 'application/vnd.oci.image.manifest.v1+json';
    return (await fetch(url, { method: 'HEAD', headers: { accept } })).headers.get('docker-content-digest');
  };
  const [digest, policies] = [await digestOf('dustpan'), await digestOf('dustpan-policies')];
  expect(digest).toMatch(/^sha256:/);
  expect(calls('cosign')).toEqual([
    `sign --yes ${charts}/dustpan@${digest}`,
    `sign --yes ${charts}/dustpan-policies@${policies}`,
  ]);
  // The attestations that follow read these.
  expect(readFileSync(output, 'utf8').trim().split('\n')).toEqual([
    `digest=${digest}`,
    `policies=${policies}`,
  ]);
  const pull = [join(bed, 'helm'), 'pull', '--plain-http', `oci://${charts}/dustpan`, `--version=${version}`];
  expect(await runCommand(pull, { cwd: dir })).toMatchObject({ code: 0 });
  const [pulled, pushed] = ['', 'dist/manifests'].map((at) =>
    readFileSync(join(dir, at, `dustpan-${version}.tgz`)),
  );
  expect(pulled).toEqual(pushed);
});

test('every file of the release has a checksum and a signature', async () => {
  mkdirSync(join(dir, 'dist/executable'));
  for (const name of [
    'dustpan.cdx.json',
    'executable/kubectl-dustpan-linux-amd64.tar.gz',
    'executable/dustpan.yaml',
  ])
    writeFileSync(join(dir, 'dist', name), name);
  const names = { GITHUB_REF_NAME: `v${version}`, GITHUB_REPOSITORY: 'owner/dustpan', VERSION: version };
  await runStep('Release', names);
  const assets = readdirSync(join(dir, 'assets'));
  const files = assets.filter((name) => !name.endsWith('.sigstore.json'));
  expect(files).toEqual(
    expect.arrayContaining([
      'crds.yaml',
      'install.yaml',
      `dustpan-${version}.tgz`,
      'krew-dustpan.yaml',
      'SHA256SUMS',
    ]),
  );
  expect(assets.filter((name) => name.endsWith('.sigstore.json'))).toEqual(
    files.map((name) => `${name}.sigstore.json`),
  );
  expect(
    await runCommand(['sha256sum', '--check', '--strict', 'SHA256SUMS'], { cwd: join(dir, 'assets') }),
  ).toMatchObject({ code: 0 });
  const sums = readFileSync(join(dir, 'assets/SHA256SUMS'), 'utf8').trim().split('\n');
  expect(sums).toHaveLength(files.length - 1);
  expect(calls('gh')).toEqual([expect.stringContaining(`release create v${version} `)]);
  expect(calls('gh')[0]?.split(' -- ')[1]?.split(' ').toSorted()).toEqual(assets.toSorted());
});
