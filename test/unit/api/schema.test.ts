import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { isInvalid } from '../../../src/api/policy/policy.ts';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';
import type { Schema } from '../../../src/api/policy/schema.ts';
import { closedSchema, storedSchema } from '../../../scripts/generate/schema.mjs';
import { schemaChecker } from '../../sandbox/api/schema.ts';
import { policyOf } from '../../contract/policies/table.ts';
import { gcPolicyCrd, yamlObject } from './crd.ts';

const check = schemaChecker(gcPolicyCrd);

test.each(readdirSync(new URL('../../../examples', import.meta.url)))(
  'examples/%s is a valid policy',
  (file) => {
    const example = yamlObject(`examples/${file}`);
    expect(check(example).problems).toEqual([]);
    expect(isInvalid(parsePolicy(example))).toBe(false);
  },
);

test.each([
  { file: 'templates/NOTES.txt', policy: /<<'POLICY'\n(.*)POLICY\n/s },
  { file: 'Chart.yaml', policy: /crdsExamples: \|\n(.*?)\n {2}\S/s },
])('the first policy in $file is examples/dry-run.yaml', ({ file, policy }) => {
  const text = readFileSync(new URL(`../../../helm/dustpan/${file}`, import.meta.url), 'utf8');
  const example = yamlObject('examples/dry-run.yaml');
  expect([load(policy.exec(text)?.[1] ?? '')].flat()).toEqual([example]);
});

describe('parsePolicy and the CRD agree', () => {
  const specs = ofSchema(closedSchema(storedSchema(gcPolicyCrd)).properties?.['spec'] ?? { type: 'object' });

  test('on validity and on all defaults', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const { object, problems } = check(policyOf('p', spec));
        const parsed = parsePolicy(policyOf('p', spec));
        expect({ valid: !isInvalid(parsed), problems }).toEqual({
          valid: problems.length === 0,
          problems,
        });
        if (!isInvalid(parsed)) expect(parsePolicy(object)).toEqual(parsed);
        expect(JSON.stringify(parsed, finite)).not.toContain('not a number');
      }),
      { numRuns: 2000 },
    );
  });
});

/** JSON would write null for NaN and infinities. */
const finite = (_name: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? 'not a number' : value;

interface Bounds extends Schema {
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values for a schema: mostly valid ones, some at and beyond the bounds, few of another type. */
function ofSchema(schema: Schema): fc.Arbitrary<unknown> {
  const wrong = fc.constantFrom<unknown>(null, true, 'x', 1.5, -7, [], {}, [{}]);
  return fc.oneof({ weight: 300, arbitrary: ofType(schema) }, { weight: 1, arbitrary: wrong });
}

function ofType(schema: Bounds): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, items, required = [], minimum = 0, maximum = 0 } = schema;
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(fc.constantFrom('a', 'b.c/d', 'A_1'), ofSchema(additionalProperties), {
      maxKeys: 2,
    });
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => [name, ofSchema(field)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
  }
  if (items !== undefined) {
    const lists = [
      fc.uniqueArray(ofSchema(items), { maxLength: 2 }),
      fc.array(ofSchema(items), { maxLength: 2 }),
    ] as const;
    return fc.oneof({ weight: 20, arbitrary: lists[0] }, { weight: 1, arbitrary: lists[1] });
  }
  switch (schema.type) {
    case 'integer':
      return seldomBad([minimum, maximum, 50, 90], [minimum - 1, maximum + 1]);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return ofText(schema);
    default:
      return fc.constant({});
  }
}

function ofText(schema: Bounds): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return seldomBad(schema.enum, ['Other']);
  if (schema.format === 'duration')
    return seldomBad(
      ['0s', '2m', '1h30m', '1.5h', '87600h', '7d', '1w2d3h'],
      ['1y', '', '87601h', '9'.repeat(31) + 'h'],
    );
  const rule = schema['x-kubernetes-validations']?.[0]?.message ?? 'any';
  const good = goodTexts.find(([word]) => rule.includes(word))?.[1] ?? ['a', 'x-1', 'kube-system'];
  return seldomBad(good, ['', 'A B', '😀'.repeat(300), 'x'.repeat(600)]);
}

/** By a word of the message that their rule has. */
const goodTexts = [
  ['quantity such', ['', '10', '5Gi']],
  ['percentage', ['15%', '10', '5Gi']],
  ['any', ['a', 'é😀', '😀'.repeat(100)]],
] as const;

const seldomBad = (good: readonly unknown[], bad: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 300, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
