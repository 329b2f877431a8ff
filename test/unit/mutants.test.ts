import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mutantGroups } from '../mutants/all.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// Whether a test notices each of them is found out by npm run mutants; here, only that the lists keep up with the code.
describe.each(mutantGroups)('$unit', ({ mutants, reasons }) => {
  test('each mutant breaks one place, and something there', () => {
    const lost = mutants.filter(([, file, from]) => read(file).split(from).length !== 2);
    expect(lost.map(([rule, file, from]) => `${rule}: ${file}: ${from}`)).toEqual([]);
    expect(mutants.filter(([, , from, to]) => from === to)).toEqual([]);
    expect(new Set(mutants.map(([rule]) => rule)).size).toBe(mutants.length);
  });

  test('each reason is broken by one at least, and each mutant names what it is about', () => {
    const broken = new Set(mutants.map(([rule]) => rule.split(':')[0] ?? ''));
    expect(reasons.filter((reason) => !broken.has(reason))).toEqual([]);
    const known = new Set([...reasons, 'order', 'reach', 'memory', 'check', 'stop', 'pace']);
    expect([...broken].filter((reason) => !known.has(reason))).toEqual([]);
  });
});
