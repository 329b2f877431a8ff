import { compactQuantityText } from '../../runtime/text/size-text.ts';
import { html, moreText, tableBody } from './markup.ts';
import {
  afterText,
  diskName,
  diskParts,
  fullText,
  growthText,
  partNames,
  percentText,
  usedParts,
  type Curve,
  type UsageBar,
  type UsageData,
} from './usage.ts';

export function usageSection({ disks, curves, unknown }: UsageData, namespaces: string): string {
  const notes = unknown.map((note) => `<p class="note">${html(note)}</p>`).join('');
  const head = `<section class="bars"><h2>What uses the disks</h2>${notes}`;
  if (disks.length === 0) return `${head}</section>`;
  const heads = [{ title: 'Disk' }, { title: 'Usage' }, { title: 'Used', isNumber: true }];
  const bars = legendOf(disks) + tableBody(heads, disks.map(barRow));
  return `<div class="pair">${head}${bars}</section><div>${curvesSection(curves)}${namespaces}</div></div>`;
}

function legendOf(disks: readonly UsageBar[]): string {
  const items = usedParts(disks).map(
    (part) =>
      `<li><svg aria-hidden="true" width="12" height="12"><rect class="${part}" width="12" height="12"/></svg> ${partNames[part]}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}

const barRow = (bar: UsageBar): readonly string[] => [
  `${html(bar.node)}<small>${diskName(bar)}</small>`,
  `${barSvg(bar)}<small>${largestParts(bar)}</small>`,
  `${percentText(bar.usedPercent)}<small>of ${compactQuantityText(bar.capacityBytes)}</small>`,
];

function barSvg(bar: UsageBar): string {
  let x = 0;
  const drawn = bar.parts.map(({ part, bytes }) => {
    const [from, width] = [x, (1000 * bytes) / bar.capacityBytes];
    x += width;
    const text = partText({ part, bytes });
    const rect = `<rect class="${part}" x="${from.toFixed(1)}" width="${width.toFixed(1)}" height="14"><title>${text}</title></rect>`;
    return { text, rect };
  });
  const label = html(`${diskName(bar)} of ${bar.node}: ${drawn.map(({ text }) => text).join(', ')}`);
  return `<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 1000 14" preserveAspectRatio="none" width="100%" height="14">${drawn.map(({ rect }) => rect).join('')}</svg>`;
}

type Part = UsageBar['parts'][number];

const partText = ({ part, bytes }: Part): string => `${partNames[part]} ${compactQuantityText(bytes)}`;

const shownParts = 2;

/** The parts that use most, largest first. */
const largestParts = ({ parts }: UsageBar): string =>
  parts
    .filter(({ part }) => part !== 'free' && part !== 'reserved')
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, shownParts)
    .map(partText)
    .join(', ');

const maxCurves = 4;

function curvesSection(curves: readonly Curve[]): string {
  const title = '<h2>Until the disks are full</h2>';
  if (curves.length === 0)
    return `<section>${title}<p>As far as it is known, no disk will be full within a week at its present growth.</p></section>`;
  const shown = curves.slice(0, maxCurves);
  const axes = axesOf(shown);
  const legend = `<ul class="legend"><li><svg aria-hidden="true" width="26" height="12"><path class="line" d="M0 6H26"/></svg> at the present growth</li><li><svg aria-hidden="true" width="26" height="12"><path class="line after" d="M0 6H26"/></svg> if everything collectable is removed</li></ul>`;
  return `<section>${title}${legend}<div class="curves">${shown.map((curve) => figure(curve, axes)).join('')}</div>${moreText(curves.length - maxCurves)}</section>`;
}

/** The same for all curves, so that they compare. */
interface Axes {
  readonly lastMs: number;
  readonly stepMs: number;
  readonly fromPercent: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const longestMs = 7 * dayMs;
const steps = [1, 2, 3, 6, 12, 24, 48].map((hours) => hours * hourMs);
const maxSteps = 5;

function axesOf(curves: readonly Curve[]): Axes {
  const times = curves.flatMap(({ fullInMs, afterCollection: after }) => [fullInMs, after?.fullInMs ?? 0]);
  const lastMs = Math.min(longestMs, Math.max(hourMs, ...times.filter(Number.isFinite)));
  const percents = curves.flatMap(({ usedPercent, afterCollection: after }) => [
    usedPercent,
    after?.usedPercent ?? usedPercent,
  ]);
  return {
    lastMs,
    stepMs: steps.find((step) => lastMs / step <= maxSteps) ?? longestMs,
    fromPercent: Math.min(90, Math.floor(Math.min(...percents) / 10) * 10),
  };
}

/** In units of the picture. */
const box = { width: 300, height: 118, left: 42, right: 288, top: 10, bottom: 96 } as const;

function figure(curve: Curve, axes: Axes): string {
  const { node, name, usedPercent, growthBytesPerHour, fullInMs, afterCollection: after } = curve;
  const growth = growthBytesPerHour === undefined ? '' : `, ${growthText(growthBytesPerHour)}`;
  const text = `full ${fullText(fullInMs)}, after collection ${afterText(after)}`;
  const lines = [
    line({ usedPercent, fullInMs }, axes, 'line'),
    after === undefined ? '' : line(after, axes, 'line after'),
  ];
  const label = html(`${name} of ${node}, ${percentText(usedPercent)} used: ${text}`);
  return `<figure><svg role="img" aria-label="${label}" viewBox="0 0 ${box.width} ${box.height}" width="100%">${grid(axes)}${lines.join('')}</svg><figcaption><strong>${html(node)}</strong> ${html(name)}${growth}<br>${text}</figcaption></figure>`;
}

const xOf = (ms: number, { lastMs }: Axes): number => box.left + ((box.right - box.left) * ms) / lastMs;
const yOf = (percent: number, { fromPercent }: Axes): number =>
  box.bottom - ((box.bottom - box.top) * (percent - fromPercent)) / (100 - fromPercent);

function grid(axes: Axes): string {
  const { lastMs, stepMs, fromPercent } = axes;
  const percents = [fromPercent, 100].map((percent) => {
    const y = yOf(percent, axes);
    return `<path class="grid" d="M${box.left} ${y}H${box.right}"/><text x="${box.left - 5}" y="${y + 4}" text-anchor="end">${percent} %</text>`;
  });
  const count = Math.floor(lastMs / stepMs);
  const times = Array.from({ length: count + 1 }, (_, i) => {
    const x = xOf(i * stepMs, axes).toFixed(1);
    return `<path class="grid" d="M${x} ${box.bottom}v4"/><text x="${x}" y="${box.bottom + 17}" text-anchor="middle">${tickText(i * stepMs, stepMs)}</text>`;
  });
  return [...percents, ...times].join('');
}

function tickText(ms: number, stepMs: number): string {
  if (ms === 0) return 'now';
  return stepMs >= dayMs ? `${ms / dayMs} d` : `${ms / hourMs} h`;
}

interface Line {
  readonly usedPercent: number;
  readonly fullInMs: number;
}

/** Ends with a dot where the disk is full, or at the end of the axis. */
function line({ usedPercent, fullInMs }: Line, axes: Axes, className: string): string {
  const isInside = fullInMs <= axes.lastMs;
  const endMs = isInside ? fullInMs : axes.lastMs;
  const endPercent = isInside ? 100 : usedPercent + ((100 - usedPercent) * endMs) / fullInMs;
  const [x, y] = [xOf(endMs, axes).toFixed(1), yOf(endPercent, axes).toFixed(1)];
  const dot = isInside ? `<circle class="${className}" cx="${x}" cy="${y}" r="3"/>` : '';
  return `<path class="${className}" d="M${box.left} ${yOf(usedPercent, axes).toFixed(1)}L${x} ${y}"/>${dot}`;
}

/** Its colours are those of the page's scheme; each has a text beside it. */
export const usageStyle = `
:root { --imagesInUse: #2f6fce; --imagesUnused: #8fbaf3; --packed: #1f4e96; --layers: #7d4fc4; --volumes: #14877a; --logs: #d98e04; --checkpoints: #b8578f; --orphans: #c8385a; --leftovers: #9c5a3c; --namespaces: #5b7f3a; --other: #6e7781; --unknown: #b4a7c9; --reserved: #b9c0c7; --free: #e6e9ed; }
@media (prefers-color-scheme: dark) { :root { --imagesInUse: #4c8ef0; --imagesUnused: #a9ccfa; --packed: #2f68b8; --layers: #a57be8; --volumes: #2bb3a3; --logs: #e8a72c; --checkpoints: #d97fb4; --orphans: #f0627f; --leftovers: #c4815f; --namespaces: #86b05c; --other: #8b949e; --unknown: #7d6f96; --reserved: #4d565f; --free: #262c34; } }
${diskParts.map((part) => `.${part} { fill: var(--${part.replace('Bytes', '')}); }`).join(' ')}
.note, figcaption { overflow-wrap: anywhere; } .note { margin: .2rem 0; } .legend { color: var(--soft); display: flex; flex-wrap: wrap; font-size: .87rem; gap: .1rem 1rem; list-style: none; margin: .4rem 0 .5rem; padding: 0; }
.bar { border-radius: .2rem; display: block; margin: .25rem 0 .15rem; } small { color: var(--soft); font-size: .8rem; } .bars small { display: block; line-height: 1.3; } .bars td:nth-child(2) { width: 60%; } .bars td { padding: .25rem .5rem; } @media (max-width: 34rem) { .bars td:nth-child(2) { width: 52%; } }
.curves { display: grid; gap: .9rem 1.2rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); } figure { break-inside: avoid; margin: 0; } figcaption { color: var(--soft); font-size: .8rem; line-height: 1.35; }
figure text { fill: var(--soft); font-size: 11px; } .grid { fill: none; stroke: var(--line); } .line { fill: none; stroke: var(--red); stroke-width: 2; } .after { stroke: var(--volumes); stroke-dasharray: 5 3; } circle.line { fill: var(--red); stroke: none; } circle.after { fill: var(--volumes); }
`;
