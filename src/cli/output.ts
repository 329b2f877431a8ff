/** `-o`. */
export type OutputFormat = 'table' | 'json' | 'yaml';

export const outputFormats = ['table', 'json', 'yaml'] as const satisfies readonly OutputFormat[];

/** A result as text: `table` says how people read it, the other forms are the value itself. */
export async function formatted(format: OutputFormat, value: object, table: () => string): Promise<string> {
  switch (format) {
    case 'table':
      return table();
    case 'json':
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case 'yaml': {
      const { dump } = await import('js-yaml');
      return dump(value, { lineWidth: -1, noRefs: true });
    }
  }
}
