import { InvalidArgumentError } from '@commander-js/extra-typings';
import { printableLines } from '../runtime/text/printable.ts';
import { problemLine } from './exit.ts';
import { choice } from './option.ts';
import type { System } from './system.ts';
import type { Template } from './template.ts';

export type OutputFormat = 'table' | 'json' | 'yaml' | Template;

/** The formats of commands that list objects. `wide` and `name` are tables with more columns, and with names alone. */
export const listFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type ListFormat = OutputFormat | 'wide' | 'name';

export const asTable = (format: ListFormat): OutputFormat =>
  format === 'wide' || format === 'name' ? 'table' : format;

export const isTemplate = (format: string): format is Template => /^(jsonpath|custom-columns)=/.test(format);

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

/** The option of every command that prints a result; program.ts refuses a bad template before the command runs. */
export const outputOption = <const N extends readonly ['table', ...string[]]>(
  names: N,
  help = 'Output format.',
) =>
  choice(
    '-o, --output <FORMAT>',
    `${help} jsonpath=TEMPLATE and custom-columns=NAME:.path,NAME:.path print parts of the JSON, as kubectl does.`,
    names,
  ).argParser((given): N[number] | Template => {
    const name = names.find((known) => known === given);
    if (name !== undefined) return name;
    if (isTemplate(given)) return given;
    throw new InvalidArgumentError(
      `Allowed choices are ${names.join(', ')}, jsonpath=TEMPLATE, custom-columns=NAME:.path.`,
    );
  });

interface FormatOptions extends Pick<System, 'stderr'> {
  /** Whether custom-columns has its titles. */
  readonly headers?: boolean;
}

/** A result as text: `table` is for people, the other formats have the value itself. */
export async function formatted(
  format: OutputFormat,
  value: object,
  table: () => string,
  { stderr, headers = true }: FormatOptions,
): Promise<string> {
  switch (format) {
    case 'table':
      return table();
    case 'json':
      return `${jsonText(value)}\n`;
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(value);
    default: {
      const { missingField, printerOf } = await import('./template.ts');
      const missing = missingField(format, value);
      if (missing !== undefined)
        stderr(
          problemLine(
            `warning: -o: the JSON has no field ${missing}; it has ${Object.keys(value).join(', ')}`,
          ),
        );
      return printerOf(format)(value, headers);
    }
  }
}

/** The value as indented JSON, in which invisible characters are escaped. */
export const jsonText = (value: object): string => printableLines(JSON.stringify(value, undefined, 2));
