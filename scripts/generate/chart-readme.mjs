import { leaves } from './chart-values.mjs';

/** The chart's README: its template, with the tables of all values instead of the marker. */
export function chartReadme(template, values) {
  const marker = '<!-- values -->';
  if (!template.includes(marker)) throw new Error(`chart-readme.md has no ${marker}`);
  const note =
    '<!-- Made from scripts/generate/chart-readme.md and values.yaml by npm run generate. Do not edit. -->';
  return template.replace(marker, () => tables(values)).replace('\n', () => `\n\n${note}\n`);
}

/** A table of the single values, and one of each map. */
function tables(values) {
  const single = values.filter(({ children }) => children.length === 0);
  const maps = values.filter(({ children }) => children.length > 0);
  return [
    `### General\n\n${table(single)}`,
    ...maps.map((map) =>
      [`### ${map.key}`, map.text, table(leaves(map.children))].filter(Boolean).join('\n\n'),
    ),
  ].join('\n\n');
}

const table = (nodes) => ['| Value | Type | Default | |', '|---|---|---|---|', ...nodes.map(row)].join('\n');

function row({ path, value, shape, text }) {
  const cells = [
    `\`${path}\``,
    typeText(value, shape),
    `\`${JSON.stringify(value)}\``,
    withChoices(text, shape),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function typeText(value, shape) {
  const type = shape?.type ?? (Number.isInteger(value) ? 'integer' : typeof value);
  return [type].flat().join(' or ').replace('array', 'list').replace('object', 'map');
}

function withChoices(text, shape) {
  const words = (shape?.enum ?? []).filter((word) => word !== '');
  if (words.every((word) => text.includes(word))) return text;
  return `${text} One of ${words.map((word) => `\`${word}\``).join(', ')}.`;
}
