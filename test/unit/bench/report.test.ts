import { describe, expect, test } from 'vitest';
import { withSection } from '../../bench/report.ts';

const page = [
  '# Page\n\nintro',
  '## podgc, 100 000 pods\n\nold',
  '## Curve: how\n\ntext',
  '## plan, 1 pods\n\nplan',
];
const joined = (...sections: readonly string[]): string => `${sections.join('\n\n')}\n`;
const [head = '', podgc = '', curve = '', plan = ''] = page;

describe('a section of the page', () => {
  test.each([
    {
      name: 'takes the place of the one with its heading',
      text: '## podgc, 100 000 pods\n\nnew\n',
      expected: joined(head, '## podgc, 100 000 pods\n\nnew', curve, plan),
    },
    {
      name: 'of another size comes after its kin',
      text: '## podgc, 20 000 pods\n\nnew\n',
      expected: joined(head, podgc, '## podgc, 20 000 pods\n\nnew', curve, plan),
    },
    {
      name: 'comes after the text about it',
      text: '## curve\n\nnew\n',
      expected: joined(head, podgc, curve, '## curve\n\nnew', plan),
    },
    {
      name: 'without kin comes last',
      text: '## churn, 5 pods\n\nnew\n',
      expected: joined(head, podgc, curve, plan, '## churn, 5 pods\n\nnew'),
    },
  ])('$name', ({ text, expected }) => {
    expect(withSection(joined(...page), text)).toBe(expected);
  });
});
