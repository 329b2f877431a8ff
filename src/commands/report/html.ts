import { createHash } from 'node:crypto';
import { printable } from '../../runtime/text/printable.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import { modeChangeText } from '../../evaluation/plan/changes.ts';
import type { Changes, Decision, PlanDocument } from '../../evaluation/plan/document.ts';
import { comparisonText, unknownTexts } from '../../evaluation/plan/unknown.ts';
import { capital } from '../../gc/reasons/words.ts';
import { objectText } from '../plan/table.ts';
import { decisionsInPiece } from '../plan/text.ts';
import { countText, fateOf, freedText, policyTexts, type ReportData, type Share } from './data.ts';
import { html, tableOf } from './markup.ts';
import { page, type Row } from './page.ts';
import { changedObjects, sectionsOf, type Section } from './sections.ts';
import { usageSection, usageStyle } from './usage-html.ts';

/** The report as one HTML page, piece by piece. It loads nothing, and its content security policy allows no other script. */
export function* reportHtml(plan: PlanDocument, data: ReportData): Generator<string> {
  const script = `(${page.toString()})();`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'">
<title>dustpan report, ${html(plan.generatedAt)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>What dustpan would remove</h1>
<p>Planned for <time>${html(plan.generatedAt)}</time>. This page removes nothing.</p>
</header>
<main>
${sections(plan, data).filter(Boolean).join('\n')}
${tableOfObjects}
</main>
<script type="application/json" id="data">[`;
  const { decisions } = plan;
  for (let from = 0; from < decisions.length; from += decisionsInPiece) {
    const rows = decisions.slice(from, from + decisionsInPiece).map((decision) => json(rowOf(decision)));
    yield `${from === 0 ? '' : ',\n'}${rows.join(',\n')}`;
  }
  yield `]</script>
<script>${script}</script>
</body>
</html>
`;
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** JSON that cannot end the script element that contains it. */
const json = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

function rowOf(decision: Decision): Row {
  const { object, policy, mode, eligibleAt, bytes } = decision;
  const governed = policy === null ? '' : `${policy}${mode === 'DryRun' ? ' (DryRun)' : ''}`;
  return [
    ...([fateOf(decision), object.kind, decision.unit, decision.reason] as const),
    ...([printable(objectText(decision)), object.node ?? '', governed, eligibleAt ?? ''] as const),
    ...([bytes === null ? '' : compactQuantityText(bytes), printable(decision.detail)] as const),
  ];
}

function sections(plan: PlanDocument, data: ReportData): readonly string[] {
  const shared = sectionsOf(data);
  const pair = (left: Section, right: Section): string =>
    `<div class="pair">${tableOf(left)}${tableOf(right)}</div>`;
  return [
    tilesOf(data.total),
    ...unknownTexts(plan).map((text) => `<p><strong>${html(text)}</strong></p>`),
    list('Limits of this plan', plan.notes),
    list('Policies', policyTexts(plan)),
    plan.changes === undefined ? '' : changesSection(plan.changes),
    data.usage === undefined ? '' : usageSection(data.usage, tableOf(shared.namespaces)),
    tableOf(shared.workloads),
    tableOf(shared.suggestions),
    pair(shared.byPolicy, shared.byReason),
    pair(shared.byNamespace, shared.byNode),
    pair(shared.disks, shared.due),
    tableOf(shared.stuck),
    pair(shared.images, shared.logs),
  ];
}

function tilesOf(total: Share): string {
  const { remove, warn, waiting, keep } = total;
  const values = [
    ['to remove', countText(total, remove)],
    ['freed on nodes', freedText(total)],
    [warn === 1 ? 'warning' : 'warnings', countText(total, warn)],
    ['wait for time', countText(total, waiting)],
    ['kept', countText(total, keep)],
  ] as const;
  const tiles = values.map(([what, value]) => `<div><dt>${what}</dt><dd>${value}</dd></div>`);
  return `<dl class="tiles">${tiles.join('')}</dl>`;
}

const list = (title: string, items: readonly string[]): string =>
  items.length === 0
    ? ''
    : `<section><h2>${title}</h2><ul>${items.map((item) => `<li>${html(item)}</li>`).join('')}</ul></section>`;

function changesSection(changes: Changes): string {
  const counts = html(capital(comparisonText(changes)));
  const changed = changes.modes.map((change) => `<p>${html(modeChangeText(change))}</p>`).join('');
  return `<section><h2>Compared with the policies in force</h2><p>${counts}</p>${changed}</section>${tableOf(changedObjects(changes))}`;
}

const tableOfObjects = `<section class="objects">
<h2>Objects</h2>
<noscript><p>This list needs JavaScript; dustpan plan --kept -o wide prints the same.</p></noscript>
<div class="controls">
<label>Search <input id="search" type="search" autocomplete="off"></label>
<label>Show <select id="fate"><option value="">all</option><option value="remove">to remove</option><option value="warn">warnings</option><option value="wait">waiting for time</option><option value="keep">kept</option></select></label>
<span id="position" role="status"></span>
<button id="previous" type="button">Previous</button>
<button id="next" type="button">Next</button>
</div>
<table><thead><tr><th scope="col">Fate</th><th scope="col">Object and explanation</th><th scope="col">Kind</th><th scope="col">Reason</th><th scope="col">Unit</th><th scope="col">Node</th><th scope="col">Policy</th><th scope="col">Due</th><th scope="col" class="number">Size</th></tr></thead>
<tbody id="rows"></tbody></table>
</section>`;

const style = `
:root { color-scheme: light dark; --line: #c9d1d9; --soft: #57606a; --tile: #f3f5f7; --red: #b3261e; --amber: #7a4f00; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #a9b3bd; --tile: #1c2128; --red: #ff8a80; --amber: #f0b849; } body { background: #0d1117; color: #e6edf3; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 1.5rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .5rem; } header p { color: var(--soft); margin: .3rem 0 1.2rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .7rem; margin: 0; } .tiles div { background: var(--tile); border-radius: .5rem; display: flex; flex: 1 1 8rem; flex-direction: column-reverse; padding: .7rem 1rem; }
.tiles dd { font-size: 1.6rem; font-weight: 600; margin: 0; } .tiles dt { color: var(--soft); }
.pair { display: grid; gap: 0 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); } .pair > * { min-width: 0; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere; padding: .3rem .5rem; text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; } .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } meter { width: 6rem; }
${usageStyle}.controls { align-items: center; display: flex; flex-wrap: wrap; gap: .8rem; margin-bottom: .6rem; } input { min-width: 16rem; } input, select, button { font: inherit; padding: .25rem .6rem; }
.objects td { font-size: .87rem; } .objects p { color: var(--soft); margin: .15rem 0 0; } .object { min-width: 20rem; } .fate { font-weight: 600; } .remove { color: var(--red); } .warn, .wait { color: var(--amber); }
@media (max-width: 60rem) { .objects { overflow-x: auto; } } @media (max-width: 34rem) { body { padding: .6rem; } section { overflow-x: auto; } section:not(.objects) :is(th, td) { font-size: .87rem; padding: .3rem .15rem; } }
@media print { :root { color-scheme: light; } body { background: #fff; color: #000; max-width: none; padding: 0; } .controls input, .controls select, .controls button, .controls label { display: none; } tr { break-inside: avoid; } .objects { overflow: visible; } .object { min-width: 0; } }
`;
