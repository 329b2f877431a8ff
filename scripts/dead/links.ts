import { posix } from 'node:path';
import ts from 'typescript';

/** The exports and imports of one file. */
interface Links {
  readonly exports: readonly string[];
  readonly uses: readonly Use[];
}

/** Names that a file imports from another file of the repository; `*` = all, none = it only loads the file. */
interface Use {
  readonly from: string;
  readonly names: readonly string[];
}

/** Reads only the syntax: imports name the file with its extension, so no path has to be resolved. */
export function linksOf(path: string, text: string): Links {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    const { specifier, names } = importOf(node) ?? {};
    if (names !== undefined && specifier?.startsWith('.') === true)
      uses.push({ from: posix.join(posix.dirname(path), specifier), names });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { exports: source.statements.flatMap(exportedBy), uses };
}

interface Import {
  readonly specifier: string | undefined;
  readonly names: readonly string[];
}

function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node))
    return { specifier: textOf(node.moduleSpecifier), names: importedNames(node.importClause) };
  if (ts.isExportDeclaration(node))
    return { specifier: textOf(node.moduleSpecifier), names: sourceNames(node.exportClause) };
  if (ts.isImportTypeNode(node)) return importOfType(node);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return { specifier: textOf(node.arguments[0]), names: awaitedNames(node) };
  return undefined;
}

function importOfType({ argument, qualifier }: ts.ImportTypeNode): Import {
  const specifier = ts.isLiteralTypeNode(argument) ? textOf(argument.literal) : undefined;
  return { specifier, names: [qualifier?.getText() ?? '*'] };
}

const textOf = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteral(node) ? node.text : undefined;

function importedNames(clause: ts.ImportClause | undefined): readonly string[] {
  const { namedBindings: named } = clause ?? {};
  return [
    ...(clause?.name === undefined ? [] : ['default']),
    ...(named === undefined ? [] : ts.isNamespaceImport(named) ? ['*'] : named.elements.map(sourceName)),
  ];
}

const sourceNames = (clause: ts.NamedExportBindings | undefined): readonly string[] =>
  clause === undefined || ts.isNamespaceExport(clause) ? ['*'] : clause.elements.map(sourceName);

const sourceName = ({ propertyName, name }: ts.ImportSpecifier | ts.ExportSpecifier): string =>
  (propertyName ?? name).text;

/** Names in `const { a } = await import(…)` and `(await import(…)).a`. */
function awaitedNames({ parent }: ts.CallExpression): readonly string[] {
  const { parent: user } = parent;
  if (ts.isVariableDeclaration(user) && ts.isObjectBindingPattern(user.name))
    return user.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
  return ts.isPropertyAccessExpression(user.parent) ? [user.parent.name.text] : ['*'];
}

function exportedBy(statement: ts.Statement): readonly string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause } = statement;
    return exportClause && ts.isNamedExports(exportClause)
      ? exportClause.elements.map(({ name }) => name.text)
      : [];
  }
  if (!ts.canHaveModifiers(statement)) return [];
  if (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) !== true)
    return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  return 'name' in statement ? [(statement.name as ts.Identifier).text] : [];
}

const boundNames = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));
