interface LineHead {
  readonly ts: string;
  readonly level: string;
  readonly logger: string | undefined;
  readonly msg: string;
}

/** One line in text format: `<time> INFO podgc: deleting pod pod=a/b reason=Terminated`. */
export function textLine(
  { ts, level, logger, msg }: LineHead,
  fields: Readonly<Record<string, unknown>>,
): string {
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${word(key)}=${word(value)}`);
  const origin = logger === undefined ? '' : `${logger}: `;
  return [ts, level.toUpperCase().padEnd(5), `${origin}${oneLine(msg)}`, ...words].join(' ');
}

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : reference(value);
  return text !== undefined && /^[\w.:/@%+*-]+$/.test(text) ? text : JSON.stringify(text ?? value);
}

function reference(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('namespace' in value))
    return undefined;
  const { namespace, name } = value;
  if (typeof name !== 'string') return undefined;
  return typeof namespace === 'string' ? `${namespace}/${name}` : name;
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');
