import { printable } from '../../runtime/text/printable.ts';
import { maxRows, type Cell, type Section } from './sections.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Names come from the cluster: they may contain markup and invisible characters. */
export const html = (text: string): string =>
  printable(text).replaceAll(/[&<>"]/g, (char) => escapes[char] ?? '');

/** Empty without rows. */
export const tableOf = ({ title, heads, rows }: Section): string =>
  rows.length === 0
    ? ''
    : `<section><h2>${title}</h2>${tableBody(
        heads,
        rows.map((row) => row.map(cellMarkup)),
      )}</section>`;

/** A table of cells that have their texts escaped. */
export function tableBody(heads: Section['heads'], rows: readonly (readonly string[])[]): string {
  const classes = heads.map(({ isNumber }) => (isNumber === true ? ' class="number"' : ''));
  const titles = heads.map(({ title, isUntitledOnPage }, i) =>
    isUntitledOnPage === true
      ? '<td></td>'
      : `<th scope="col"${classes[i]}>${title.replace(/^./, (char) => char.toUpperCase())}</th>`,
  );
  const shown = rows
    .slice(0, maxRows)
    .map((row) => `<tr>${row.map((cell, i) => `<td${classes[i]}>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${titles.join('')}</tr></thead><tbody>${shown.join('')}</tbody></table>${moreText(rows.length - maxRows)}`;
}

function cellMarkup(cell: Cell): string {
  if (typeof cell === 'string') return html(cell);
  if ('name' in cell) return html(cell.name);
  if ('percent' in cell)
    return `<meter min="0" max="100" low="80" high="90" optimum="0" value="${cell.percent}" aria-label="${html(cell.label)}"></meter>`;
  const { prose, command = null } = cell;
  return command === null ? html(prose) : `${html(prose)}: <code>${html(command)}</code>`;
}

/** A sentence about what is not shown; empty if all is. */
export const moreText = (more: number): string => (more > 0 ? `<p>And ${more} more.</p>` : '');
