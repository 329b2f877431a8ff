import { expect, test } from 'vitest';
import { reportData } from '../../../../src/commands/report/data.ts';
import { reportMarkdown } from '../../../../src/commands/report/markdown.ts';
import { finalizerHeld, minutesAgo, pod as builtPod } from '../../../builders.ts';
import { factsOf } from '../facts.ts';
import { decision, plan } from '../plan/builders.ts';

const removed = (name: string, detail: string) =>
  decision({
    ...{ unit: 'imagegc', verdict: 'Remove', reason: 'Space', order: 1, detail },
    object: { kind: 'Image', id: 'sha256:a', node: 'n', name },
  });

test('policies, changes, stuck pods and removals; no name or explanation is markup or a mention', async () => {
  const stuck = (name: string) =>
    builtPod(name, { ...finalizerHeld, deletionAtMs: minutesAgo(10), uid: name });
  const deleted = decision({
    ...{ unit: 'podgc', verdict: 'Delete', reason: 'Expired', mode: 'Enforce', policy: 'p', order: 1 },
    object: { kind: 'Pod', namespace: 'web', name: 'b', uid: 'web/b', node: 'n' },
  });
  const removal = removed('a`|b', 'See <b>@team</b> | *now*.');
  const document = plan({
    decisions: [removal, deleted],
    policies: [{ name: 'p', mode: 'Enforce', planned: 2 }],
    changes: { more: [removal], less: [], modes: [{ policy: 'p', before: 'DryRun', after: 'Enforce' }] },
    notes: ['Nodes are not known.'],
  });
  const facts = factsOf({ pods: [stuck('web/a'), stuck('web/b')] });
  await expect(reportMarkdown(document, reportData(document, facts))).toMatchFileSnapshot(
    './__snapshots__/markdown.txt',
  );
});

test('fits a comment, whatever the cluster', () => {
  const detail = 'It has finished, and more finished pods exist than the policy keeps. '.repeat(3);
  const decisions = Array.from({ length: 5_000 }, (_, i) => removed(`app:${i}`, detail));
  const document = plan({ decisions });
  const text = reportMarkdown(document, reportData(document, factsOf({})));
  expect(text).toContain('And 4980 more.');
  expect(text.length).toBeLessThan(65_536);
});
