/** A generated page with its title and its source. */
export const page = (title: string, source: string, lines: readonly string[]): string =>
  [`# ${title}`, '', `<!-- Made from ${source} by npm run generate. Do not edit. -->`, '', ...lines, ''].join(
    '\n',
  );

/** A table with an empty line before it. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  '',
  row(head),
  `|${'---|'.repeat(head.length)}`,
  ...rows.map(row),
];

/** A heading between empty lines. */
export const heading = (level: number, text: string): readonly string[] => [
  '',
  `${'#'.repeat(level)} ${text}`,
  '',
];

export const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

/** Several words, each as code. */
export const codes = (words: readonly string[]): string => words.map(code).join(', ');

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
