import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { knownSeries, selectorsOf, unknownIn } from './queries.ts';

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
    }[];
  }[];
}

const text = readFileSync(join(process.cwd(), 'helm/dustpan/files/rules.yaml'), 'utf8');
const rules = (load(text) as RuleFile).groups.flatMap((group) => group.rules);
const known = await knownSeries();

test.each(rules)('$alert uses only existing series', ({ expr }) => {
  expect(selectorsOf(expr)).not.toEqual([]);
  expect(unknownIn(expr, known)).toEqual([]);
});
