import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { withCluster } from '../../../../src/process/config.ts';
import { problemLine, UsageError } from '../../../../src/process/exit.ts';
import { LenientCommand } from '../../../../src/process/option.ts';
import { shortened, paragraph, wrapped } from '../../../../src/process/table.ts';
import { yamlText } from '../../../../src/process/yaml-text.ts';
import type { Decision, PlanDocument } from '../../../../src/evaluation/plan/document.ts';
import { planTable } from '../../../../src/commands/plan/table.ts';
import { planJson, planYaml } from '../../../../src/commands/plan/text.ts';
import { statusTable } from '../../../../src/commands/status/table.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { ran } from '../../../fakes/command-line.ts';
import { hostile, hostileText, raw } from '../../../hostile.ts';
import { decision, plan as emptyPlan } from '../plan/builders.ts';
import { condition, now, policy, report, statusView } from '../status/fixtures.ts';

/** The text without the line feeds and colours that the commands add. */
const values = (text: string): string => text.replaceAll(/\n|\u001b\[(31|39)m/g, '');

const plan = (text: string): PlanDocument =>
  emptyPlan({
    decisions: [
      decision({
        ...{ unit: 'podgc', verdict: 'Delete', reason: 'Terminated', detail: text, field: text },
        object: { kind: 'Pod', namespace: text, name: text, uid: text, node: text },
        ...{ policy: text, mode: 'Enforce', order: 1 },
      }),
      decision({
        ...{ unit: 'imagegc', verdict: 'Remove', reason: 'Space', detail: text },
        object: { kind: 'Image', id: text, node: text, name: text, pod: text },
        ...{ policy: text, mode: 'Enforce', order: 1 },
      }),
      decision({
        ...{ unit: 'containergc', verdict: 'Keep', reason: 'Running', detail: text },
        object: { kind: 'LogFile', path: `/${text}/${text}`, node: text },
        ...{ policy: text, mode: 'DryRun' },
      }),
    ],
    summary: [
      {
        ...{ unit: 'imagegc', node: text, state: 'Short', wantedBytes: 1, plannedBytes: 0, usedPercent: 90 },
        ...{ crossed: ['bytes', 'inodes'], wantedInodes: 1, plannedInodes: 0, usedInodesPercent: 90 },
        waiting: 0,
      },
    ],
    totals: [
      {
        ...{ unit: 'imagegc', node: text, planned: 1, kept: 1, waiting: 1, reasons: { [text]: 1 } },
        ...{ state: 'Unknown', tripped: { [text]: 50 } },
      },
      {
        ...{ unit: 'imagegc', node: `${text}2`, planned: null, kept: null, waiting: null, reasons: {} },
        ...{ state: 'Degraded', reportedAt: '2026-01-15T11:00:00Z', removable: 1, removableBytes: 1 },
      },
    ],
    policies: [{ name: text, mode: 'Enforce', planned: 1 }],
    notes: [text],
  });

function explanation(text: string): Parameters<typeof whyTable>[0] {
  const { apiVersion, generatedAt, decisions } = plan(text);
  const container = { id: text, name: text, state: text };
  const heldBy = [container, null].map((one) => ({ container: one, pod: text }));
  const removed = { kind: 'Image', id: text, name: text, pod: text, node: text } as const;
  const told = { reason: text, policy: text, bytes: 1, sentence: text, evidence: text };
  return {
    ...{ apiVersion, kind: 'Explanation', generatedAt, notes: [text] },
    object: { kind: 'Image', text, node: text },
    explanations: decisions.map((one) => ({ ...one, sentence: text, change: text, caution: text, heldBy })),
    removed: [{ verdict: 'Remove', at: text, object: removed, ...told }],
  };
}

const status = (text: string) =>
  statusView(
    [policy(text, { conditions: [condition('Degraded', 'True', { reason: text, message: text })] })],
    [report(text, { policy: { name: text, observedGeneration: 1, mode: 'Enforce' } })],
    now,
  );

const layout = {
  ...{ colours: true, kept: true, assumeElapsed: false, width: 80, maxRows: 20, isWide: false },
  ...{ createdAt: () => undefined, proseWidth: 80 },
};

/** Every output that can contain a text from outside. */
const texts: Readonly<Record<string, (text: string) => string>> = {
  plan: (text) => planTable(plan(text), layout),
  'plan -o json': (text) => [...planJson(plan(text))].join(''),
  'plan -o yaml': (text) => [...planYaml(plan(text), yamlText)].join(''),
  why: (text) => whyTable(explanation(text)),
  status: (text) => statusTable(status(text), { now, width: 80, colours: true }).join('\n'),
  'a paragraph': (text) => paragraph(text, 60).join('\n'),
  'a wrapped text': (text) => wrapped(text, 20, '  ').join('\n'),
  'an error line': (text) => problemLine(text).slice(0, -1),
};

describe.each(Object.entries(texts))('%s', (_, shown) => {
  test('shows nothing raw, whatever the text: escape sequences, forged lines and turned names are text', () => {
    expect(shown(hostile)).toMatch(/\\(u00|x)9b/i);
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(values(shown(text))).not.toMatch(raw);
      }),
      { numRuns: 50, examples: [[hostile]] },
    );
  });
});

describe('data', () => {
  test('YAML and JSON have every value unchanged', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const document: unknown = JSON.parse(JSON.stringify(plan(text)));
        expect(JSON.parse([...planJson(plan(text))].join(''))).toEqual(document);
        expect(load([...planYaml(plan(text), yamlText)].join(''))).toEqual(document);
      }),
      { numRuns: 50, examples: [['\0\u202e'], ['a\n\u202eb\n'], ['it\'s \u2066 "so"']] },
    );
  });

  test.each([0, 1, 500, 501])('a document of %i decisions is written whole', (count) => {
    const [one] = plan('"@"').decisions;
    const document = emptyPlan({
      decisions: Array.from({ length: count }, () => ({ ...one })) as Decision[],
    });
    expect([...planJson(document)].join('')).toBe(`${JSON.stringify(document, undefined, 2)}\n`);
    expect(load([...planYaml(document, yamlText)].join(''))).toEqual(document);
  });
});

describe('widths are measured after escaping', () => {
  test('of a text that is cut', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 4, max: 40 }), (text, size) => {
        expect(shortened(text, size).length).toBeLessThanOrEqual(size);
      }),
    );
  });
});

describe('standard error', () => {
  const failing = (err: Error) => withCluster(new LenientCommand('fail')).action(() => Promise.reject(err));
  const stderrOf = async (err: Error, ...argv: string[]): Promise<string> =>
    (await ran(['fail', ...argv], { commands: [failing(err)] })).err;

  test.each([
    { name: 'a failure', err: new Error(hostile, { cause: new Error(hostile) }), lines: 1 },
    { name: 'bad usage', err: new UsageError([hostile, hostile]), lines: 2 },
  ])('$name is one line each', async ({ err, lines }) => {
    const text = await stderrOf(err);
    expect(text.trimEnd().split('\n')).toHaveLength(lines);
    expect(text.replaceAll('\n', '')).not.toMatch(raw);
  });

  test('an unknown option is shown as text', async () => {
    const text = await stderrOf(new Error('no'), `--${hostile}`);
    expect(text).toMatch(/^dustpan: fail: unknown option [^\n]*\\u009b[^\n]*\n$/);
    expect(text.trimEnd()).not.toMatch(raw);
  });

  test('a stack keeps its lines, and its message is one line', async () => {
    const [first = '', second = '', third = '', ...rest] = (
      await stderrOf(new Error(hostile), '--v=5')
    ).split('\n');
    expect(first).toMatch(/^dustpan: /);
    expect(second).toMatch(/^Error: a\\u001b\[2Jb\\nERROR forged/);
    expect(third).toMatch(/^ +at /);
    expect([first, second, third, ...rest].join('')).not.toMatch(raw);
  });
});
