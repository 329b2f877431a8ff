import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { mutantGroups } from '../mutants/all.ts';
import { subjects } from '../mutants/group.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// npm run mutants proves that a test fails for each mutant; these tests only keep the lists in step with the code.
describe.each(mutantGroups)('$unit', ({ mutants, reasons }) => {
  test('each mutant changes exactly one place', () => {
    const lost = mutants.filter(([, file, from]) => read(file).split(from).length !== 2);
    expect(lost.map(([rule, file, from]) => `${rule}: ${file}: ${from}`)).toEqual([]);
    expect(mutants.filter(([, , from, to]) => from === to)).toEqual([]);
    expect(new Set(mutants.map(([rule]) => rule)).size).toBe(mutants.length);
  });

  test('each mutant names its subject', () => {
    const named = new Set(mutants.map(([rule]) => rule.split(':')[0] ?? ''));
    const known = new Set<string>([...reasons, ...subjects]);
    expect([...named].filter((subject) => !known.has(subject))).toEqual([]);
  });
});
