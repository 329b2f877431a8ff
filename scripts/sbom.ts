// npm run sbom [-- --out=FILE]: writes the SBOM of the bundle (CycloneDX, JSON) to dist/dustpan.cdx.json: the packages of npm whose code is in it.
// `npm sbom` lists every package of the checkout, as they all are development dependencies; here the bundled ones are left.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { scriptOptions } from './arguments.ts';
import { bundledPackages, type BundleFacts } from './bundled-packages.ts';

/** A part of CycloneDX 1.5. */
interface Component {
  readonly 'bom-ref': string;
  readonly [field: string]: unknown;
}
interface Bom {
  readonly metadata: { readonly component: Component; readonly [field: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const { out } = scriptOptions({
  options: { out: { type: 'string', default: join('dist', 'dustpan.cdx.json') } },
}).values;
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, `${JSON.stringify(ofBundle(checkoutBom(), bundledRefs()), undefined, 2)}\n`);
process.stdout.write(`${out}\n`);

function checkoutBom(): Bom {
  const printed = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  return JSON.parse(printed) as Bom;
}

/** The bundled packages as `npm sbom` refers to them. */
function bundledRefs(): ReadonlySet<string> {
  const work = mkdtempSync(join(tmpdir(), 'dustpan-sbom-'));
  try {
    const facts = join(work, 'facts.json');
    const build = [
      join('scripts', 'build.mjs'),
      `--single=${join(work, 'bundle.cjs')}`,
      `--metafile=${facts}`,
    ];
    execFileSync(process.execPath, build, { stdio: ['ignore', 'ignore', 'inherit'] });
    return new Set(
      bundledPackages(JSON.parse(readFileSync(facts, 'utf8')) as BundleFacts).map(
        ({ name, version }) => `${name}@${version}`,
      ),
    );
  } finally {
    rmSync(work, { recursive: true });
  }
}

function ofBundle({ metadata, components, dependencies, ...bom }: Bom, bundled: ReadonlySet<string>): Bom {
  const root = metadata.component['bom-ref'];
  return {
    ...bom,
    // Without a folder of packages npm calls the checkout by its directory.
    metadata: { ...metadata, component: { ...metadata.component, name: 'dustpan', type: 'application' } },
    components: components
      .filter((component) => bundled.has(component['bom-ref']))
      // To npm they are optional, for development only.
      .map((component) => ({ ...component, scope: 'required', properties: [] })),
    dependencies: dependencies
      .filter(({ ref }) => ref === root || bundled.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => bundled.has(other)) })),
  };
}
