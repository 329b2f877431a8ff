import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { yamlText } from '../../../../src/commands/cli/yaml-text.ts';
import { planJson, planYaml } from '../../../../src/commands/plan/text.ts';
import { decision, plan } from './builders.ts';

test.each([0, 1, 2, 500, 501, 1200])('the pieces of %i decisions are the whole document', (count) => {
  const document = plan({
    decisions: Array.from({ length: count }, (_, i) =>
      decision({
        ...{ unit: 'podgc', verdict: 'Delete', reason: 'Terminated', detail: 'It "@" finished.' },
        object: { kind: 'Pod', namespace: 'a', name: `"@" ${i}\n`, uid: 'u', node: null },
        ...{ policy: '@', mode: 'DryRun', order: i + 1 },
      }),
    ),
    notes: ['"@"'],
  });
  expect([...planJson(document)].join('')).toBe(`${JSON.stringify(document, undefined, 2)}\n`);
  expect(load([...planYaml(document, yamlText)].join(''))).toEqual(document);
});
