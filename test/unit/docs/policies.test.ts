import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../../src/api/policy/policy-spec.ts';
import { textOf } from './pages.ts';

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

test('are found', () => {
  expect(policies.length).toBeGreaterThan(5);
});

describe.each(policies)('$policy.metadata.name in $page', ({ policy }) => {
  test('is valid, and a dry run', () => {
    expect(parsePolicy(policy)).toMatchObject({ kind: 'valid' });
    expect(policy.spec.mode).toBe('DryRun');
  });
});
