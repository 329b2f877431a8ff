import { expect, test } from 'vitest';
import { reportData } from '../../../../src/commands/report/data.ts';
import { reportMarkdown } from '../../../../src/commands/report/markdown.ts';
import { finalizerHeld, minutesAgo, pod as builtPod } from '../../../builders.ts';
import { factsOf } from '../facts.ts';
import { decision, plan } from '../plan/builders.ts';

const image = (name: string) => ({ kind: 'Image', id: 'sha256:a', node: 'n', name }) as const;
const removed = (name: string, detail: string) =>
  decision({ unit: 'imagegc', verdict: 'Remove', reason: 'Space', order: 1, object: image(name), detail });
const markdownOf = (document: ReturnType<typeof plan>): string =>
  reportMarkdown(document, reportData(document, factsOf({})));

test('has this layout', () => {
  const removal = removed('app:1', 'It is unused.');
  const changes = {
    ...{ more: [removal], less: [] },
    modes: [{ policy: 'p', before: 'DryRun', after: 'Enforce' } as const],
  };
  const policies = [{ name: 'p', mode: 'Enforce', planned: 1 } as const];
  const text = markdownOf(plan({ decisions: [removal], policies, changes, notes: ['Nodes are not known.'] }));
  expect(text.split('\n').slice(0, 17)).toEqual([
    ...['## What dustpan would remove', ''],
    'Planned for 2026-01-15T12:00:00Z: **1 to remove** (0 B on nodes), 0 warnings, 0 wait for time, 0 kept.',
    ...['', '- Nodes are not known.', '', '- p, in mode Enforce: 1 removal.', ''],
    ...['Compared with the policies in force: **1 more removals, 0 fewer**.', ''],
    ...['- GCPolicy p changes from mode DryRun to Enforce.', '', '### Changes', ''],
    ...['| Change | Object | Reason |', '| --- | --- | --- |', '| more | `app:1 a` | Space |'],
  ]);
});

test('a name or an explanation is neither markup nor a mention', () => {
  const text = markdownOf(plan({ decisions: [removed('a`|b', 'See <b>@team</b> | *now*.')] }));
  expect(text).toContain("`a'\\|b a`");
  expect(text).toContain('See \\<b\\>@\u200bteam\\</b\\> \\| \\*now\\*.');
});

test('fits a comment, whatever the cluster', () => {
  const detail = 'It has finished, and more finished pods exist than the policy keeps. '.repeat(3);
  const decisions = Array.from({ length: 5_000 }, (_, i) => removed(`app:${i}`, detail));
  const text = markdownOf(plan({ decisions }));
  expect(text).toContain('And 4980 more.');
  expect(text.length).toBeLessThan(65_536);
});

test('names stuck pods, with the command that helps or what dustpan does', () => {
  const stuck = (name: string) =>
    builtPod(name, { ...finalizerHeld, deletionAtMs: minutesAgo(10), uid: name });
  const object = { kind: 'Pod', namespace: 'web', name: 'b', uid: 'web/b', node: 'n' } as const;
  const decisions = [
    decision({
      unit: 'podgc',
      verdict: 'Delete',
      reason: 'Expired',
      mode: 'Enforce',
      policy: 'p',
      order: 1,
      object,
    }),
  ];
  const document = plan({ decisions });
  const facts = factsOf({ pods: [stuck('web/a'), stuck('web/b')] });
  const text = reportMarkdown(document, reportData(document, facts));
  expect(text).toContain(
    '| `web/a` | Finalizer | 2026-01-15T11:50:00Z | It waits for its finalizers: example.com/backup',
  );
  expect(text).toContain("remove this finalizer: `kubectl -n web patch pod a --type=json -p '[{");
  expect(text).toContain('| dustpan deletes it in the next pass of the controller: Expired, GCPolicy p. |');
});
