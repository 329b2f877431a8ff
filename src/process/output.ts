import { printableLines } from '../runtime/text/printable.ts';
import { choice } from './option.ts';

export type OutputFormat = 'table' | 'json' | 'yaml';

export const colorOption = () =>
  choice(
    '--color <WHEN>',
    'Colours: on a terminal, always, or never. The variable NO_COLOR turns auto off.',
    ['auto', 'always', 'never'],
  );

/** For scripts; the JSON of these commands has the rest. */
export const rowsOnlyHelp = 'Print only the rows of the table, without titles and notes.';

export const progressOption = () =>
  choice(
    '--progress <WHEN>',
    'Progress of work that takes longer than a second, on standard error: on a terminal, always (one line per second), or never.',
    ['auto', 'always', 'never'],
  );

export const hasColours = (when: 'auto' | 'always' | 'never', noColor: string | undefined): boolean =>
  when === 'always' || (when === 'auto' && process.stdout.isTTY && noColor === undefined);

/** The option of every command that prints a result. */
export const outputOption = () =>
  choice('-o, --output <FORMAT>', 'Output format.', ['table', 'json', 'yaml']);

/** A result as text: `table` is for people, the other formats have the value itself. */
export async function formatted(format: OutputFormat, value: object, table: () => string): Promise<string> {
  switch (format) {
    case 'table':
      return table();
    case 'json':
      return `${jsonText(value)}\n`;
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(value);
  }
}

/** The value as indented JSON, in which invisible characters are escaped. */
export const jsonText = (value: object): string => printableLines(JSON.stringify(value, undefined, 2));
