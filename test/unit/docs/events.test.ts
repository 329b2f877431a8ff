import { describe, expect, test } from 'vitest';
import { eventKinds } from '../../../scripts/generate/events-list.ts';
import { entriesOf, partOf, referencePage } from './page.ts';
import { sources } from './sources.ts';

const page = referencePage('events.md');
const samples = eventKinds.flatMap((kind) => kind.samples.map((sample) => ({ ...kind, sample })));

/** Exported functions that return Events, as file and name, found by their return type. */
const factoriesIn = (file: string, text: string): readonly string[] =>
  text.split(/^(?=export )/m).flatMap((piece) => {
    const name = /^export (?:const|function) (\w+)/.exec(piece)?.[1];
    const returned = /\): ([^={]+) (?:=>|\{)/.exec(piece)?.[1] ?? '';
    return name !== undefined && /\bEventSpec\b/.test(returned) ? `${file} ${name}` : [];
  });

describe('the list of Events', () => {
  const factories = [...sources].flatMap(([file, text]) => factoriesIn(file, text));

  test('has every exported function that creates them', () => {
    expect(eventKinds.map(({ file, factory }) => `${file} ${factory}`).sort()).toEqual(factories.toSorted());
  });

  test('has every file that creates one', () => {
    const creators = [...sources].filter(([, text]) => /\baction: /.test(text) && /\bregarding\b/.test(text));
    const known = new Set(eventKinds.map(({ file }) => file));
    expect(
      creators.map(([file]) => file).filter((file) => !known.has(file) && !transports.has(file)),
    ).toEqual([]);
  });

  test('has a sample of every type, reason, action and kind in these files', () => {
    const words = [...new Set(eventKinds.map(({ file }) => file))].flatMap((file) => [
      ...(sources.get(file) ?? '').matchAll(/'(?![KMGT]iB')([A-Z][A-Za-z]+)'/g),
    ]);
    const shown = samples.flatMap(({ sample: { type, reason, action, regarding } }) => [
      ...[type, reason, action, regarding.kind],
    ]);
    expect(words.length).toBeGreaterThan(20);
    expect([...new Set(words.map(([, word]) => word))].filter((word) => !shown.includes(word ?? ''))).toEqual(
      [],
    );
  });
});

/** Files that only transport Events. */
const transports = new Set(['src/kube/events/recorder.ts', 'src/kube/events/series.ts']);

describe('docs/reference/events.md', () => {
  test.each(['controller', 'agent'] as const)('has exactly the reasons of the %s', (component) => {
    const reasons = samples.filter((one) => one.component === component).map(({ sample }) => sample.reason);
    expect(entriesOf(partOf(page, component === 'agent' ? 'Agent' : 'Controller'))).toEqual([
      ...new Set(reasons),
    ]);
  });

  test.each(samples.map((one) => [`${one.sample.reason} ${one.sample.action}`, one] as const))(
    'describes %s completely',
    (_name, { sample, when, regarding, upstream }) => {
      const entry = page.split(`\n### \`${sample.reason}\`\n`)[1]?.split('\n#')[0] ?? '';
      for (const text of [sample.type, sample.action, sample.note, when, regarding, upstream])
        expect(entry).toContain(text);
    },
  );
});
