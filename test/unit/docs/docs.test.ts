import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { alertRules } from '../../../scripts/generate/alert-rules.ts';
import { isInvalid } from '../../../src/api/policy/policy.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';
import { commandsOf } from '../../../src/commands/cli/program.ts';
import { FakeSystem } from '../../fakes/system.ts';
import { pages, partOf, root, textOf } from './pages.ts';

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

/** The text without blocks and inline code. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (path: string): readonly string[] =>
  [
    ...textOf(path)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) => anchorOf(heading));

/** The links and pictures of a page that are files of the repository: `path` below its root, and the anchor, or ''. */
const linksOf = (page: string): readonly { readonly path: string; readonly anchor: string }[] =>
  [...prose(textOf(page)).matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)]
    .map(([, target, picture = '']) => target ?? picture)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { path: file === '' ? page : normalize(join(dirname(page), file)), anchor };
    });

/** Policies that readers copy from a page. */
const policies = ['docs/concepts.md', 'docs/how-to.md', 'docs/migration.md'].flatMap((page) =>
  [...textOf(page).matchAll(/^```yaml\n(apiVersion: gc\.dustpan\.dev[\s\S]*?)^```$/gm)].map(
    ([, yaml = '']) => ({
      page,
      policy: load(yaml) as {
        readonly metadata: { readonly name: string };
        readonly spec: { readonly mode: string };
      },
    }),
  ),
);

test.each(policies)('the policy $policy.metadata.name in $page is valid, and a dry run', ({ policy }) => {
  expect(isInvalid(parsePolicy(policy))).toBe(false);
  expect(policy.spec.mode).toBe('DryRun');
});

describe.each(pages)('%s', (page) => {
  const text = textOf(page);

  test('names only files that exist', () => {
    const files = [...text.matchAll(/`((?:src|test|scripts)\/[\w./-]+\.(?:ts|mjs|json|yaml))`/g)];
    expect(files.filter(([, file = '']) => !existsSync(new URL(file, root)))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z]+(?::[a-z0-9]+)*)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('names only commands and options of dustpan that exist', () => {
    expect(dustpanCommands(text).filter((command) => unknownIn(command).length > 0)).toEqual([]);
  });

  test('links to files and headings that exist', () => {
    const broken = linksOf(page).filter(
      ({ path, anchor }) =>
        !existsSync(new URL(path, root)) || (anchor !== '' && !anchorsIn(path).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });
});

test('the pages have commands, links and policies', () => {
  expect(pages.map(textOf).flatMap(dustpanCommands).length).toBeGreaterThan(50);
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(100);
  expect(policies.length).toBeGreaterThan(5);
});

/** The functions and classes that the map of the code names, each with the file whose link follows it. */
const named = [
  ...textOf('docs/architecture.md').matchAll(/((?:`\w+`(?:, )?)+) in \[[^\]]*\]\(([^)]+)\)/g),
].flatMap(([, names = '', link = '']) =>
  [...names.matchAll(/\w+/g)].map(([name]) => ({ name, file: join('docs', link) })),
);

test('the map of the code names functions and classes that are in the linked file', () => {
  expect(named.length).toBeGreaterThan(25);
  const isThere = ({ name, file }: (typeof named)[number]): boolean =>
    new RegExp(`\\b(?:function\\*?|class|const) ${name}\\b`).test(textOf(file));
  expect(named.filter((one) => !isThere(one))).toEqual([]);
});

/** The reasons in the files that create Events; the unit imagegc passes its own to a function. */
const eventReasons = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/(^|\/)gen\/|\.gen\.ts$/.test(path))
  .map((path) => textOf(join('src', path)))
  .filter((text) => /\bEventSpec\b/.test(text) && /\baction: '/.test(text))
  .flatMap((text) => [...text.matchAll(/(?:\breason: |\bwarning\(\s*node,\s*)'([A-Z]\w+)'/g)])
  .map(([, reason]) => reason);

test('docs/reference/events.md describes every reason of an Event, and no other', () => {
  const described = [...textOf('docs/reference/events.md').matchAll(/^### `([^`]+)`$/gm)].map(
    ([, name]) => name,
  );
  expect(eventReasons.length).toBeGreaterThan(20);
  expect(described.toSorted()).toEqual([...new Set(eventReasons)].toSorted());
});

const troubleshooting = textOf('docs/troubleshooting.md');
const headings = (part: string): readonly string[] =>
  [...part.matchAll(/^### (\S+).*$/gm)].map(([, name = '']) => name);

test('docs/troubleshooting.md has a heading for each alert, and for nothing else', () => {
  const alerts = alertRules().map(({ alert }) => alert);
  const parts = ['of the controller', 'about policies', 'of the agents', 'about images', 'about both'];
  expect(parts.flatMap((part) => headings(partOf(troubleshooting, `Alerts ${part}`))).toSorted()).toEqual(
    alerts.toSorted(),
  );
});

/** The reasons in these files: as a value, in a union, and in the cases of a function that passes its reason on. */
const reasonsIn = (file: string): readonly string[] =>
  [
    ...textOf(file).matchAll(
      /(?:\breason(?:: | = |[^\n]*\? )|\b(?:yes|no|unknown)\(\s*(?:[^\n]*\? )?)'(\w+)'(?: : '(\w+)')?|case '(\w+)':/g,
    ),
  ].flatMap(([, ...words]) => words.filter(Boolean));

test.each([
  {
    file: 'src/evaluation/installation/trouble.ts',
    part: 'Problems that only status finds',
    some: 'NodesBehind',
  },
  { file: 'src/controllers/policystatus/claims.ts', part: 'Conditions of a GCPolicy', some: 'Tripped' },
  { file: 'src/controllers/policystatus/hold.ts', part: 'Conditions of a GCPolicy', some: 'NodesHolding' },
  { file: 'src/controllers/budgets/words.ts', part: 'Conditions of a GCPolicy', some: 'UsageUnknown' },
  { file: 'src/agent/report/conditions.ts', part: 'Conditions of a NodeGCReport', some: 'ThresholdAhead' },
  {
    file: 'src/agent/report/keep-list-risk.ts',
    part: 'Conditions of a NodeGCReport',
    some: 'DiskNearSignal',
  },
  { file: 'src/agent/report/manager.ts', part: 'Conditions of a NodeGCReport', some: 'RuntimeUnavailable' },
])('docs/troubleshooting.md explains each reason of $file', ({ file, part, some }) => {
  const reasons = reasonsIn(file);
  expect(reasons).toContain(some);
  // A reason that hides others when the nodes themselves are listed.
  const own = reasons.filter((reason) => reason !== 'NodesDegraded' || part.includes('GCPolicy'));
  expect(own.filter((reason) => !partOf(troubleshooting, part).includes(`\`${reason}\``))).toEqual([]);
});
