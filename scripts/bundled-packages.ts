import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package of npm whose code is in the bundle. */
interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** Lists the packages of a bundle from the facts that `scripts/build.mjs --metafile=FILE` wrote, in the order of their folders. */
export function bundledPackages(metafile: string): readonly BundledPackage[] {
  const { inputs } = JSON.parse(readFileSync(metafile, 'utf8')) as { readonly inputs: object };
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)].toSorted().map((folder) => {
    const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
    const { name = '', version = '', license = '' } = facts;
    return { folder, name, version, license };
  });
}
