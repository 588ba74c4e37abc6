// Writes what the TypeScript compiler says each call is to, in the form of call_reference.py.
//
//   NODE_PATH=FOLDER_WITH_TYPESCRIPT node bench/call_reference.mjs FOLDER > reference.jsonl
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const require = createRequire(path.join(process.env.NODE_PATH ?? process.cwd(), "x.js"));
const ts = require("typescript");
const root = fs.realpathSync(process.argv[2]);
const files = fs
  .readdirSync(root, { recursive: true })
  .map((one) => path.join(root, one))
  .filter((one) => /\.[mc]?[jt]sx?$/.test(one) && !one.includes("node_modules") && fs.statSync(one).isFile());
const program = ts.createProgram(files, {
  allowJs: true, noEmit: true, skipLibCheck: true, strict: true, jsx: ts.JsxEmit.Preserve, target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, types: [],
});
const checker = program.getTypeChecker();

function declarations(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol?.declarations ?? null;
}

for (const file of program.getSourceFiles()) {
  if (!file.fileName.startsWith(`${root}/`)) continue;
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = node.expression;
      const name = ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : null;
      if (name) {
        const found = declarations(name);
        // A parameter or a destructured variable is no definition of a function.
        const kept = found?.filter((one) => ts.isFunctionLike(one) || ts.isClassLike(one) ||
          (ts.isVariableDeclaration(one) && one.initializer && (ts.isFunctionLike(one.initializer) || ts.isClassLike(one.initializer))));
        const inside = (kept ?? []).filter((one) => one.getSourceFile().fileName.startsWith(`${root}/`)).map((one) => {
          const where = one.getSourceFile();
          const called = ts.isConstructorDeclaration(one) ? one.parent.name : one.name;
          return [path.relative(root, where.fileName), where.getLineAndCharacterOfPosition(one.getStart()).line + 1,
            called?.getText() ?? (one.parent?.name?.getText?.() ?? "default")];
        });
        const outside = kept?.some((one) => !one.getSourceFile().fileName.startsWith(`${root}/`));
        const line = file.getLineAndCharacterOfPosition(name.getStart()).line + 1;
        const targets = inside.length || outside ? inside : null;
        process.stdout.write(`${JSON.stringify([path.relative(root, file.fileName), line, name.text, targets])}\n`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}
