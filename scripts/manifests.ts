// npm run manifests [-- --image=HOST/NAME[@sha256:…] --repository=URL --out=DIR]: writes the manifests of a release to dist/manifests/.
//   crds.yaml     only the CRDs
//   install.yaml  the chart with its default values, for kubectl apply
//   chart/dustpan the chart with the released image as its default, ready for helm package
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptOptions } from './arguments.ts';
import { findProgram } from '../test/cluster/programs/find.ts';
import { programsOf } from '../test/cluster/programs/parts.ts';
import { imageValues, withDigest, withImage, withRepository } from './manifests/image-values.ts';
import { plainManifests, readManifests, writeManifests } from './manifests/plain.ts';

const namespace = 'dustpan-system';
/** The oldest version that the chart accepts; no template depends on it. */
const kubeVersion = '1.30';
const { image, out, repository } = scriptOptions({
  options: {
    image: { type: 'string' },
    repository: { type: 'string' },
    out: { type: 'string', default: join('dist', 'manifests') },
  },
}).values;
const chart = join(out, 'chart', 'dustpan');

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join('helm', 'dustpan'), chart, { recursive: true });
if (image !== undefined) {
  const released = imageValues(image);
  change('values.yaml', (text) => withImage(text, released));
  change('Chart.yaml', (text) => withDigest(text, released.digest));
}
if (repository !== undefined) change('Chart.yaml', (text) => withRepository(text, repository));
try {
  write('crds.yaml', crds());
  write('install.yaml', install());
} catch (err) {
  if (!(
    err instanceof Error &&
    'code' in err &&
    err.code === 'ENOENT' &&
    'path' in err &&
    err.path === 'helm'
  ))
    throw err;
  process.stderr.write('helm missing: https://helm.sh/docs/intro/install/\n');
  process.exit(1);
}

function change(name: string, by: (text: string) => string): void {
  const file = join(chart, name);
  writeFileSync(file, by(readFileSync(file, 'utf8')));
}

function crds(): string {
  const files = readdirSync('crds').filter((name) => name.endsWith('.yaml'));
  return writeManifests(
    files.sort().flatMap((name) => readManifests(readFileSync(join('crds', name), 'utf8'))),
    ['kubectl apply --server-side -f crds.yaml'],
  );
}

function install(): string {
  const rendered = execFileSync(
    helm(),
    [
      ...['template', 'dustpan', chart, `--namespace=${namespace}`],
      ...['--no-hooks', `--kube-version=${kubeVersion}`],
    ],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  return writeManifests(plainManifests(readManifests(rendered), namespace), [
    `dustpan for Kubernetes ${kubeVersion} and newer: kubectl apply --server-side -f install.yaml`,
    'dustpan removes nothing without a GCPolicy in mode Enforce.',
  ]);
}

/** helm of the test bed, else the one on the PATH. */
function helm(): string {
  const program = programsOf(['api', 'kubelet']).find(({ name }) => name === 'helm');
  return (program && findProgram(program, process.env)) ?? 'helm';
}

function write(name: string, text: string): void {
  writeFileSync(join(out, name), text);
  process.stdout.write(`${join(out, name)}\n`);
}
