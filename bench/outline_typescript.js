// Prints what the TypeScript compiler finds defined in files of JavaScript and TypeScript, one JSON object a line.
// Usage: node outline_typescript.js FOLDER_OF_THE_TYPESCRIPT_PACKAGE < list-of-files
const ts = require(process.argv[2]);
const fs = require("fs");
const S = ts.SyntaxKind;
const MEMBERS = new Set([
  S.FunctionDeclaration, S.ClassDeclaration, S.InterfaceDeclaration, S.TypeAliasDeclaration, S.EnumDeclaration,
  S.ModuleDeclaration, S.MethodDeclaration, S.GetAccessor, S.SetAccessor, S.PropertyDeclaration, S.MethodSignature,
  S.PropertySignature, S.EnumMember,
]);

function visit(source, node, inFunction, out) {
  const add = (name, at) => {
    const first = source.getLineAndCharacterOfPosition(at.getStart(source)).line + 1;
    const last = source.getLineAndCharacterOfPosition(at.getEnd()).line + 1;
    const named = source.getLineAndCharacterOfPosition((at.name || at).getStart(source)).line + 1;
    out.push([name, named, first, last, S[at.kind]]);
  };
  const inType = node.parent && (ts.isTypeLiteralNode(node.parent) || ts.isObjectLiteralExpression(node.parent));
  if (MEMBERS.has(node.kind) && node.name && node.name.text !== undefined && !inType) add(node.name.text, node);
  if (node.kind === S.Constructor) add("constructor", node);
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) {
    const value = node.initializer;
    const isFunction = value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));
    const isImport = value && /^(await import|require)\s*\(/.test(value.getText(source));
    const top = node.parent.parent && node.parent.parent.parent && ts.isSourceFile(node.parent.parent.parent);
    if ((top && !isImport) || isFunction) add(node.name.text, node);
  }
  const within = inFunction || ts.isFunctionLike(node);
  ts.forEachChild(node, (child) => visit(source, child, within, out));
}

for (const file of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const source = ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const out = [];
  if (!source.parseDiagnostics.length) visit(source, source, false, out);
  console.log(JSON.stringify(out));
}
