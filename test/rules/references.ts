/** What a TypeScript source refers to outside itself: the modules it imports and the globals it names, read from its syntax tree. */
import ts from 'typescript';

export interface ModuleReference {
  specifier: string;
  /** True where the compiler erases the import, so that nothing is loaded at run time. */
  typeOnly: boolean;
}

const parse = (source: string): ts.SourceFile =>
  ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, /* setParentNodes */ true);

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => {
    visit(child, see);
  });
}

const literalText = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;

/** `import()`, `require()`, `require.resolve()`, `import.meta.resolve()` with a literal argument. */
function calledSpecifier(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const loads =
    callee.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(callee) && callee.text === 'require') ||
    (ts.isPropertyAccessExpression(callee) &&
      callee.name.text === 'resolve' &&
      /^(require|import\.meta)$/.test(callee.expression.getText()));
  return loads ? literalText(node.arguments[0]) : undefined;
}

function declaredReference(node: ts.Node): ModuleReference | undefined {
  if (ts.isImportDeclaration(node)) {
    const specifier = literalText(node.moduleSpecifier);
    return specifier === undefined
      ? undefined
      : { specifier, typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword };
  }
  if (ts.isExportDeclaration(node)) {
    const specifier = literalText(node.moduleSpecifier);
    return specifier === undefined ? undefined : { specifier, typeOnly: node.isTypeOnly };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const specifier = literalText(node.argument.literal);
    return specifier === undefined ? undefined : { specifier, typeOnly: true };
  }
  return undefined;
}

export function moduleReferences(source: string): ModuleReference[] {
  const found: ModuleReference[] = [];
  visit(parse(source), (node) => {
    const called = calledSpecifier(node);
    const reference = called === undefined ? declaredReference(node) : { specifier: called, typeOnly: false };
    if (reference !== undefined) found.push(reference);
  });
  return found;
}

/** A name that only labels something (`x.process`, `{ process: 1 }`) or is part of a type refers to no global. */
function isLabel(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isMetaProperty(parent)) return parent.name === node;
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isPropertyDeclaration(parent))
    return parent.name === node;
  if (ts.isMethodDeclaration(parent) || ts.isMethodSignature(parent)) return parent.name === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    ts.isTypeReferenceNode(parent) ||
    ts.isQualifiedName(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isExportSpecifier(parent)
  );
}

/** Names and one-level members (`Math.random`) used as values, in order of appearance. */
export function valueNames(source: string): string[] {
  const names: string[] = [];
  visit(parse(source), (node) => {
    if (!ts.isIdentifier(node) || isLabel(node)) return;
    const { parent } = node;
    names.push(node.text);
    if (ts.isPropertyAccessExpression(parent)) names.push(`${node.text}.${parent.name.text}`);
    if (ts.isElementAccessExpression(parent) && ts.isStringLiteralLike(parent.argumentExpression)) {
      names.push(`${node.text}.${parent.argumentExpression.text}`);
    }
  });
  return names;
}

/** Names of methods and members read from any object: `a.localeCompare`, `b.toLocaleString`. */
export function memberNames(source: string): string[] {
  const names: string[] = [];
  visit(parse(source), (node) => {
    if (ts.isPropertyAccessExpression(node)) names.push(node.name.text);
  });
  return names;
}
