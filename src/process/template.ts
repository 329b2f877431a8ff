import { printable } from '../runtime/text/printable.ts';
import { UsageError } from './exit.ts';
import { columns } from './table.ts';

/** Formats of kubectl that print parts of the JSON. */
export type Template = `jsonpath=${string}` | `custom-columns=${string}`;

/** The values that a path selects in a value. */
type Select = (value: unknown) => readonly unknown[];
type Print = (value: unknown) => string;

/** Parses the value of `-o jsonpath=…` or `-o custom-columns=…` in the dialect of kubectl; throws UsageError for a bad one. */
export function printerOf(template: Template): (value: object, headers: boolean) => string {
  const at = template.indexOf('=');
  const text = template.slice(at + 1);
  return template.startsWith('custom') ? columnsPrinter(text) : templateOf(text);
}

/** Texts, then the first path, which begins at the value itself. */
const firstField = /^(?:[^{]|\{\s*["'][^}]*\})*\{\s*(?:range\s+)?[$@]?\.(\w+)/;

/** What a template finds nothing with, as kubectl says nothing of it: the field of the value that it begins with, if there is none. */
export function missingField(template: Template, value: object): string | undefined {
  const [, field] = (template.startsWith('jsonpath') ? firstField.exec(template) : undefined) ?? [];
  return field === undefined || Object.hasOwn(value, field) ? undefined : field;
}

const refused = (text: string, problem: string): UsageError =>
  new UsageError([`-o: ${JSON.stringify(text)} ${problem}`]);

/** In braces `range PATH`, `end`, a quoted text or a path, which may have quoted braces; else text. */
const pieces = /\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*)\}|[^{]+|\{.*/gs;

function templateOf(text: string): Print {
  if (!text.includes('{')) throw refused(text, 'has no path in braces, such as {.items[0].name}');
  return block(text, text.matchAll(pieces), false);
}

/** The pieces up to the end of the text, or of a range. */
function block(text: string, rest: Iterable<RegExpExecArray>, isRange: boolean): Print {
  const prints: Print[] = [];
  const print: Print = (value) => prints.map((one) => one(value)).join('');
  for (const [piece, action] of rest) {
    const word = action?.trim();
    if (word === 'end' && isRange) return print;
    if (word === undefined) prints.push(plain(piece));
    else if (word.startsWith('range ')) {
      const select = pathOf(word.slice('range '.length));
      const each = block(text, rest, true);
      prints.push((value) => select(value).map(each).join(''));
    } else if (word === 'end') throw refused(text, 'has an {end} without {range}');
    else prints.push(/^["']/.test(word) ? plain(String(literalOf(word))) : joined(pathOf(word), ' '));
  }
  if (isRange) throw refused(text, 'has a {range} without {end}');
  return print;
}

function plain(text: string): Print {
  if (text.startsWith('{')) throw refused(text, 'has no closing brace');
  return () => text;
}

const joined =
  (select: Select, separator: string): Print =>
  (value) =>
    select(value).map(textOf).join(separator);

/** null is `null`, as in the JSON, where it often means unknown. */
const textOf = (value: unknown): string =>
  printable(typeof value === 'string' ? value : JSON.stringify(value));

/** The lists whose entries are rows; a value without any is the only row. */
const lists = ['items', 'decisions', 'explanations', 'nodes'];

function columnsPrinter(spec: string): (value: object, headers: boolean) => string {
  const layout = spec.split(',').map((column) => {
    const [, title, path = ''] = /^([^:]+):(.+)$/s.exec(column) ?? [];
    if (title === undefined) throw refused(column, 'is not a column such as NAME:.name');
    const print = joined(pathOf(path.replace(/^\{(.*)\}$/s, '$1')), ',');
    return { title, text: (row: unknown) => print(row) || '<none>' };
  });
  return (value, headers) => {
    const list = lists.find((name) => Object.hasOwn(value, name));
    const rows: unknown = list === undefined ? [value] : Reflect.get(value, list);
    const titles = layout.map(({ title }) => title).join('  ');
    const isEmpty = !Array.isArray(rows) || rows.length === 0;
    const lines = isEmpty ? [titles] : columns<unknown>(layout, rows, Infinity);
    return lines.slice(headers ? 0 : 1).reduce((text, line) => `${text}${line.trimEnd()}\n`, '');
  };
}

/** A name or `*`, after two dots at any depth; or what is in brackets. */
const steps =
  /(\.\.?)(\*|(?:\\.|[^\s.*[\]{}(),'"\\])+)|\[((?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\[[^\]]*\]|[^'"[\]])*)\]|.+/gs;

function pathOf(path: string): Select {
  // The value itself is `@` or `.`, and a path may begin without either.
  const relative = path.trim().replace(/^[$@]|^\.$/, '');
  const selects = [...relative.replace(/^(?=[^.[])/, '.').matchAll(steps)].flatMap(
    ([, dots, name, inner]) => {
      const select = name === undefined ? bracket(inner?.trim() ?? '') : named(name);
      if (select === undefined) throw refused(path, 'is not a path such as .items[*].name');
      return dots === '..' ? [descendants, select] : [select];
    },
  );
  if (path.trim() === '') throw refused(path, 'is not a path such as .items[*].name');
  return (value) => selects.reduce<readonly unknown[]>((values, one) => values.flatMap(one), [value]);
}

const named = (name: string): Select => (name === '*' ? children : member(name.replaceAll(/\\(.)/g, '$1')));

/** JSON has no undefined members. */
const children: Select = (value) =>
  typeof value === 'object' ? Object.values(value ?? {}).filter((one) => one !== undefined) : [];

const member =
  (name: string): Select =>
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
      ? children({ one: Reflect.get(value, name) as unknown })
      : [];

const descendants: Select = (value) => [value, ...children(value).flatMap(descendants)];

const listed =
  (choose: (list: readonly unknown[]) => readonly unknown[]): Select =>
  (value) =>
    Array.isArray(value) ? choose(value) : [];

/** `*`, an index, a slice, a quoted name or a filter; else undefined. */
function bracket(inner: string): Select | undefined {
  const [, from = '', colon, to = ''] = /^(-?\d+|)(?:(:)(-?\d+|))?$/.exec(inner) ?? [];
  if (inner === '*') return children;
  if (colon !== undefined)
    return listed((list) => list.slice(Number(from), to === '' ? undefined : Number(to)));
  if (from !== '') return listed((list) => [list.at(Number(from))].filter((one) => one !== undefined));
  const [, , name] = /^(["'])((?:\\.|(?!\1)[^\\])+)\1$/s.exec(inner) ?? [];
  return name === undefined ? filter(inner) : named(name);
}

const filters = /^\?\(\s*@([^=!<>]*?)\s*(?:(==|!=|<=?|>=?)\s*(.+?)\s*)?\)$/s;

function filter(inner: string): Select | undefined {
  const [, path, operator, literal] = filters.exec(inner) ?? [];
  if (path === undefined) return undefined;
  const select = pathOf(`@${path}`);
  const right = literal === undefined ? undefined : literalOf(literal);
  return (value) =>
    children(value).filter((one) => {
      const [left] = select(one);
      return left !== undefined && (operator === undefined || holds(left, operator, right));
    });
}

function holds(left: unknown, operator: string, right: unknown): boolean {
  if (left === right) return operator.includes('=') && operator !== '!=';
  if (operator.startsWith('<')) return isLess(left, right);
  return operator === '!=' || (operator.startsWith('>') && isLess(right, left));
}

/** Times are texts of one format. */
const isLess = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number'
    ? a < b
    : typeof a === 'string' && typeof b === 'string' && a < b;

/** A quoted text, a number, true, false or null. */
function literalOf(word: string): unknown {
  const json = /^'.*'$/s.test(word)
    ? `"${word
        .slice(1, -1)
        .replaceAll("\\'", "'")
        .replaceAll(/(?<!\\)"/g, '\\"')}"`
    : word;
  try {
    return JSON.parse(json);
  } catch {
    throw refused(word, 'is not a quoted text or a number');
  }
}
