import { readdirSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { shownCommands } from '../../shown-output.ts';
import { root, textOf } from './pages.ts';

interface Crd {
  readonly spec: {
    readonly names: { readonly plural: string };
    readonly versions: readonly [
      { readonly additionalPrinterColumns: readonly { readonly name: string; readonly priority?: number }[] },
    ];
  };
}

const crds = readdirSync(new URL('crds', root)).map((file) => load(textOf(`crds/${file}`)) as Crd);
const commands = shownCommands(textOf('docs/getting-started.md'));

test.each(crds)('Getting started shows the columns of $spec.names.plural', ({ spec }) => {
  const table = commands.find(({ script }) => script.startsWith(`kubectl get ${spec.names.plural} -o wide`));
  const columns = spec.versions[0].additionalPrinterColumns.map(({ name }) => name.toUpperCase());
  expect(table?.shown?.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', ...columns]);
});

test('Getting started shows the output of each command, except of builds of the program', () => {
  const without = commands.filter(({ shown }) => shown === undefined).map(({ script }) => script);
  expect(without).toEqual([expect.stringContaining('npm run build')]);
});
