import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A package of npm whose code is in the bundle. */
interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** What esbuild reports of a bundle, which `scripts/build.mjs --metafile=FILE` writes. */
export interface BundleFacts {
  readonly inputs: object;
}

/** Lists the packages of a bundle, in the order of their folders. */
export function bundledPackages({ inputs }: BundleFacts): readonly BundledPackage[] {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)].toSorted().map((folder) => {
    const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
    const { name = '', version = '', license = '' } = facts;
    return { folder, name, version, license };
  });
}

/** The licences of this Node and of each package whose code is in the bundle, as one text. */
export function licences(bundle: BundleFacts): string {
  const node = dirname(resolve(process.execPath));
  const nodeLicence = [dirname(node), node].map((folder) => join(folder, 'LICENSE')).find(existsSync);
  return [
    [
      'Node',
      nodeLicence === undefined
        ? 'https://github.com/nodejs/node/blob/main/LICENSE'
        : readFileSync(nodeLicence, 'utf8'),
    ],
    ...bundledPackages(bundle).map(
      ({ folder, name, version, license }) => [`${name} ${version} (${license})`, licenceOf(folder)] as const,
    ),
  ]
    .map(([title = '', text = '']) => `${title}\n${'='.repeat(title.length)}\n\n${text.trim()}\n`)
    .join('\n\n');
}

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined
    ? 'The package contains no text of its licence.'
    : readFileSync(join(folder, file), 'utf8');
}
