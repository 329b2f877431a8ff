import { printable } from '../../runtime/text/printable.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Names come from the cluster: they may contain markup and invisible characters. */
export const html = (text: string): string =>
  printable(text).replaceAll(/[&<>"]/g, (char) => escapes[char] ?? '');

/** A text, or markup that has its texts escaped. */
export type Cell = string | { readonly markup: string };

/** Rows of a table of values. */
const maxRows = 20;

/** Text cells first, then as many numbers as `numbers`. Empty without rows. */
export function tableOf(
  title: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  numbers = 0,
): string {
  const body = tableBody(head, rows, numbers);
  return body === '' ? '' : `<section><h2>${title}</h2>${body}</section>`;
}

/** The same without a title. */
export function tableBody(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  numbers: number,
): string {
  if (rows.length === 0) return '';
  const isNumber = (i: number): boolean => i >= head.length - numbers;
  const cell = (one: Cell, i: number): string =>
    `<td${isNumber(i) ? ' class="number"' : ''}>${typeof one === 'string' ? html(one) : one.markup}</td>`;
  const heads = head.map((text, i) =>
    text === '' ? '<td></td>' : `<th scope="col"${isNumber(i) ? ' class="number"' : ''}>${text}</th>`,
  );
  const shown = rows.slice(0, maxRows).map((row) => `<tr>${row.map(cell).join('')}</tr>`);
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${shown.join('')}</tbody></table>${moreText(rows.length - maxRows)}`;
}

/** A sentence about what is not shown; empty if all is. */
export const moreText = (more: number): string => (more > 0 ? `<p>And ${more} more.</p>` : '');
