import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

/** The root of the repository. */
export const root = new URL('../../..', import.meta.url);

/** The text of a file by its path below the root. */
export const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** The Markdown pages that users and contributors read. */
export const pages = ['.', 'docs', 'docs/adr', 'docs/reference', 'docs/zh-cn', 'helm/dustpan'].flatMap(
  (folder) =>
    readdirSync(new URL(folder, root), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map(({ name }) => join(folder, name)),
);

/** Whether vitest runs this file, by its name or because a test file beside it imports it. */
export function isRun(path: string): boolean {
  if (path.endsWith('.test.ts')) return true;
  const folder = dirname(path);
  const beside = readdirSync(new URL(folder, root)).filter((name) => name.endsWith('.test.ts'));
  return beside.some((name) => textOf(`${folder}/${name}`).includes(`from './${basename(path)}'`));
}

const known = new Map<string, ReadonlySet<string>>();

/**
 * Whether the text has a test, or a row of one, with this title, which a run does not skip. A test that runs only on some machines counts
 * when it, or the `describe` around it, says so at the end of its title, as `(needs root)`; the words belong to the title.
 */
export function hasTest(text: string, title: string): boolean {
  const titles = known.get(text) ?? titlesIn(text);
  known.set(text, titles);
  return titles.has(title);
}

function titlesIn(text: string): ReadonlySet<string> {
  const file = ts.createSourceFile('some.test.ts', text, ts.ScriptTarget.Latest, true);
  return new Titles(file).all;
}

/** `test.skipIf(x).each(rows)`: the function, the names after it, and the arguments of `each` or `for`. */
interface Callee {
  readonly base: string;
  readonly modifiers: readonly string[];
  readonly tables: readonly ts.Expression[];
}

/** A call of it: the title, the other arguments, and what the tests of the `describe` around it need. */
interface Call {
  readonly title: string;
  readonly rest: readonly ts.Expression[];
  readonly suffix: string;
}

const conditional = ['skipIf', 'runIf'];
const harmless = ['each', 'for', 'concurrent', 'sequential', ...conditional];
const needs = / \(needs [^()]+\)$/;

class Titles {
  readonly all = new Set<string>();
  /** What the identifiers of the file stand for. */
  readonly #declared = new Map<string, ts.Node>();

  constructor(file: ts.SourceFile) {
    this.#declare(file);
    this.#visit(file, '');
  }

  #declare(node: ts.Node): void {
    const named = ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) ? node.name : undefined;
    if (named !== undefined && ts.isIdentifier(named)) this.#declared.set(named.text, node);
    ts.forEachChild(node, (child) => {
      this.#declare(child);
    });
  }

  #visit(node: ts.Node, suffix: string): void {
    const callee = ts.isCallExpression(node) ? this.#calleeOf(node.expression) : undefined;
    const [title, ...rest] = ts.isCallExpression(node) ? node.arguments : [];
    if (callee !== undefined && title !== undefined && ts.isStringLiteralLike(title)) {
      this.#add(callee, { title: title.text, rest, suffix });
      return;
    }
    ts.forEachChild(node, (child) => {
      this.#visit(child, suffix);
    });
  }

  #add(callee: Callee, { title, rest, suffix }: Call): void {
    const own = needs.exec(title)?.[0] ?? '';
    if (rest.length === 0 || isSkipped(callee, own) || rest.some(skips)) return;
    const tests = own === '' ? suffix : '';
    if (callee.base !== 'describe') this.#addTest(callee, title, tests);
    else for (const body of rest) this.#visit(body, isConditional(callee) ? own : suffix);
  }

  #addTest({ tables }: Callee, title: string, suffix: string): void {
    this.all.add(title + suffix);
    if (title.includes('$name')) for (const table of tables) this.#addRows(table, suffix, new Set());
  }

  #calleeOf(callee: ts.Expression): Callee | undefined {
    if (ts.isIdentifier(callee)) return this.#calleeNamed(callee.text);
    if (ts.isPropertyAccessExpression(callee)) {
      const of = this.#calleeOf(callee.expression);
      return of && { ...of, modifiers: [...of.modifiers, callee.name.text] };
    }
    const of = ts.isCallExpression(callee) ? this.#calleeOf(callee.expression) : undefined;
    return of && ts.isCallExpression(callee) ? called(of, callee.arguments) : undefined;
  }

  #calleeNamed(name: string): Callee | undefined {
    if (['test', 'it', 'describe'].includes(name)) return { base: name, modifiers: [], tables: [] };
    const declared = this.#declared.get(name);
    // `const describeOnLinux = describe.skipIf(…)`
    const alias = declared && ts.isVariableDeclaration(declared) ? declared.initializer : undefined;
    return alias && this.#calleeOf(alias);
  }

  /** The names of the rows, in the table itself or in what it is made of. */
  #addRows(node: ts.Node, suffix: string, seen: Set<ts.Node>): void {
    if (seen.has(node)) return;
    seen.add(node);
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'name')
      if (ts.isStringLiteralLike(node.initializer)) this.all.add(node.initializer.text + suffix);
    const declared = ts.isIdentifier(node) ? this.#declared.get(node.text) : undefined;
    if (declared !== undefined) this.#addRows(declared, suffix, seen);
    ts.forEachChild(node, (child) => {
      this.#addRows(child, suffix, seen);
    });
  }
}

function called(of: Callee, given: readonly ts.Expression[]): Callee {
  const isAlways = given.some(({ kind }) => kind === ts.SyntaxKind.TrueKeyword);
  if (of.modifiers.at(-1) === 'skipIf' && isAlways) return { ...of, modifiers: ['skip'] };
  return { ...of, tables: [...of.tables, ...given] };
}

const isConditional = ({ modifiers }: Callee): boolean => modifiers.some((one) => conditional.includes(one));

/** Options that skip a test, or a body that skips itself. */
const skips = (argument: ts.Expression): boolean =>
  ts.isObjectLiteralExpression(argument)
    ? argument.properties.some(({ name }) =>
        ['skip', 'todo', 'only', 'fails'].includes(name?.getText() ?? ''),
      )
    : /(?<![.\w])skip\(|\b(?:ctx|context)\.skip\(/.test(argument.getText());

/** Whether no run, or an unnamed part of all runs, has it. */
const isSkipped = (callee: Callee, need: string): boolean =>
  callee.modifiers.some((one) => !harmless.includes(one)) || (isConditional(callee) && need === '');
