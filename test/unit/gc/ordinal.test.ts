import { expect, test } from 'vitest';
import { ordinal } from '../../../src/gc/reasons/words.ts';

test('places have the endings that ICU gives them', () => {
  const rules = new Intl.PluralRules('en', { type: 'ordinal' });
  const endings: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
  const places = Array.from({ length: 1_300 }, (_, i) => i + 1);
  expect(places.map(ordinal)).toEqual(places.map((place) => `${place}${endings[rules.select(place)]}`));
});
