import { readdirSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { missingLines, shownCommands } from '../../shown-output.ts';
import { root, textOf } from './pages.ts';

test.each([
  { name: 'the same line', shown: 'a b', output: 'a b', missing: [] },
  { name: 'other widths of columns', shown: 'NAME  AGE', output: 'NAME      AGE', missing: [] },
  { name: 'a word with a digit stands for any word', shown: 'node-1 3s', output: 'node-b 120m', missing: [] },
  {
    name: 'an omitted part of a word',
    shown: 'pod/web-… Deleted',
    output: 'pod/web-xyz Deleted',
    missing: [],
  },
  { name: 'omitted words', shown: 'DEPLOYED: …', output: 'DEPLOYED: Wed Nov', missing: [] },
  { name: 'omitted lines', shown: 'a\n…\nc', output: 'a\nb\nc', missing: [] },
  { name: 'additional lines', shown: 'b', output: 'a\nb\nc', missing: [] },
  { name: 'another word', shown: 'a b', output: 'a c', missing: ['a b'] },
  { name: 'a longer line', shown: 'a b', output: 'a b c', missing: ['a b'] },
  { name: 'another order', shown: 'a\nb', output: 'b\na', missing: ['b'] },
  { name: 'characters of a regular expression', shown: '(a.b)', output: '(axb)', missing: ['(a.b)'] },
])('a shown output: $name', ({ shown, output, missing }) => {
  expect(missingLines(shown, output)).toEqual(missing);
});

test('a block of text belongs to the command before it', () => {
  const page = '```\na\n```\n\n```text\nb\n```\n\n```\nc\n```\n\nText.\n\n```text\nd\n```\n';
  expect(shownCommands(page)).toEqual([
    { script: 'a\n', shown: 'b\n' },
    { script: 'c\n', shown: undefined },
  ]);
});

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
