import type { Sample } from './prometheus.ts';

/** One panel and the result of its query. */
interface Graph {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly { readonly name: string; readonly values: Sample['values'] }[];
}

const width = 420;
const height = 190;
const perRow = 4;
const plot = { left: 52, top: 26, width: 356, height: 104 };
const colours = ['#3572b0', '#d1762c', '#3a9a50', '#b33a3a', '#7d5ba6', '#8c6d46', '#c45fa0', '#6b6b6b'];
const shownNames = 6;

/** An SVG of all graphs in reading order, for manual review. */
export function picture(graphs: readonly Graph[]): string {
  const rows = Math.ceil(graphs.length / perRow);
  const size = `width="${perRow * width}" height="${rows * height}"`;
  const drawn = graphs.map((graph, i) => {
    const at = `translate(${(i % perRow) * width},${Math.floor(i / perRow) * height})`;
    return `<g transform="${at}">${draw(graph)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="DejaVu-Sans" font-size="9"><rect ${size} fill="#ffffff"/>${drawn.join('\n')}</svg>\n`;
}

function draw({ title, unit, series }: Graph): string {
  const all = series.flatMap(({ values }) => values).filter(([, value]) => Number.isFinite(value));
  const times = all.map(([seconds]) => seconds);
  const [start, end] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(...all.map(([, value]) => value), 0);
  const top = most > 0 ? most : 1;
  const x = (seconds: number): number =>
    plot.left + ((seconds - start) / Math.max(1, end - start)) * plot.width;
  const y = (value: number): number => plot.top + plot.height - (Math.max(0, value) / top) * plot.height;
  const { left, width: w, height: h } = plot;
  return [
    text([left, 16], title, 'font-size="11"'),
    `<rect x="${left}" y="${plot.top}" width="${w}" height="${h}" fill="none" stroke="#bbbbbb"/>`,
    text([2, plot.top + 8], figure(top, unit)),
    text([2, plot.top + h], figure(0, unit)),
    ...series.map(({ values }, i) => line(values, colours[i % colours.length] ?? '', { x, y })),
    ...series.slice(0, shownNames).map(({ name }, i) => {
      const place = { x: left + (i % 2) * 180, y: plot.top + h + 14 + Math.floor(i / 2) * 12 };
      return text([place.x, place.y], name.slice(0, 34), `fill="${colours[i % colours.length] ?? ''}"`);
    }),
    series.length === 0 ? text([left + 150, plot.top + 55], 'no data') : '',
    series.length > shownNames
      ? text([left, plot.top + h + 50], `and ${series.length - shownNames} more`)
      : '',
  ].join('');
}

interface Scale {
  readonly x: (seconds: number) => number;
  readonly y: (value: number) => number;
}

function line(values: Sample['values'], colour: string, { x, y }: Scale): string {
  const points = values
    .filter(([, value]) => Number.isFinite(value))
    .map(([seconds, value]) => `${x(seconds).toFixed(1)},${y(value).toFixed(1)}`);
  return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(' ')}"/>`;
}

type Place = readonly [x: number, y: number];

const text = ([x, y]: Place, words: string, style = ''): string =>
  `<text x="${x}" y="${y}" ${style}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

function figure(value: number, unit: string): string {
  if (unit === 'percentunit') return `${(value * 100).toFixed(0)} %`;
  const [scaled, prefix] =
    value >= 1e9 ? [value / 1e9, 'G'] : value >= 1e6 ? [value / 1e6, 'M'] : [value, ''];
  return `${Number(scaled.toPrecision(3))}${prefix}${unit === 'bytes' ? 'B' : unit === 's' ? 's' : ''}`;
}
