import { describe, expect, test } from 'vitest';
import { commandsOf } from '../../../src/commands/cli/program.ts';
import { FakeSystem } from '../../fakes/system.ts';
import { pages, textOf } from './pages.ts';

const options = new Map(
  commandsOf(new FakeSystem()).map((command) => [
    command.name(),
    new Set(command.options.flatMap(({ long, short }) => [long, short])).add('--help'),
  ]),
);
const { scripts } = JSON.parse(textOf('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** The code of a page: its blocks of commands and its inline code. */
const codeIn = (text: string): readonly string[] =>
  [...text.matchAll(/^ *```(?:text|yaml|mermaid)?\n[\s\S]*?^ *```$|`([^`\n]+)`/gm)].map(
    ([all, inline = all]) => inline,
  );

/** `dustpan plan --kept`, `kubectl dustpan plan`, `node dist/main.js plan`: from the name of the command to a comment, pipe or `>`. */
const dustpanCommands = (text: string): readonly string[] =>
  codeIn(text)
    .filter((code) => !/^ *```[a-z]/.test(code))
    .flatMap((code) => [
      ...code.matchAll(/^(?:\$ |kubectl |kubectl .* -- )?(?:dustpan|node dist\/main\.js) ([a-z][^\n|>#]*)/gm),
    ])
    .map(([, command = '']) => command.trim());

/** Options of a command that it does not have; the name of the command if that is unknown. */
function unknownIn(command: string): readonly string[] {
  const [name = '', ...words] = command.split(/[\s;]+/);
  const known = options.get(name);
  if (known === undefined) return [name];
  return words
    .filter((word) => /^--?[a-z]/i.test(word))
    .map((word) => word.replace(/[=,:.)\]].*$/, ''))
    .filter((option) => !known.has(option));
}

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  test('names only npm scripts that exist', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z]+(?::[a-z0-9]+)*)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('names only commands and options of dustpan that exist', () => {
    const wrong = dustpanCommands(text).filter((command) => unknownIn(command).length > 0);
    expect(wrong).toEqual([]);
  });
});

test('the pages have commands', () => {
  expect(pages.map(textOf).flatMap(dustpanCommands).length).toBeGreaterThan(50);
});
