"""Writes what the C# compiler says each call is to, in the form of `call_reference.py`.

    ENVIRONMENT_WITH_PYTHONNET/bin/python bench/call_reference_csharp.py FOLDER --roslyn DLLS --dotnet ROOT

DLLS is a folder with Microsoft.CodeAnalysis.CSharp.dll and what it needs, built for the runtime in ROOT; its assemblies
stand in for the packages that the code refers to. What they lack has no answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

_GLOBAL_USINGS = "".join(
    f"global using global::System{name};"
    for name in ("", ".IO", ".Linq", ".Net.Http", ".Collections.Generic", ".Threading", ".Threading.Tasks")
)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--roslyn", type=Path, required=True)
    parser.add_argument("--dotnet", type=Path, required=True, help="the folder with shared/Microsoft.NETCore.App")
    parser.add_argument("--define", default="", help="symbols of the preprocessor, between semicolons")
    options = parser.parse_args()
    _start_runtime(options.dotnet, options.roslyn)
    folder = options.folder.resolve()
    paths = [path for path in sorted(folder.rglob("*.cs")) if not {"obj", "bin"} & set(path.parts)]
    for row in _rows(folder, paths, options.define.split(";"), options.dotnet):
        sys.stdout.write(json.dumps(row) + "\n")
    return 0


def _start_runtime(dotnet: Path, roslyn: Path) -> None:
    version = max(path.name for path in (dotnet / "shared/Microsoft.NETCore.App").iterdir())
    framework = {"name": "Microsoft.NETCore.App", "version": version}
    runtime = {"framework": framework, "configProperties": {"System.Globalization.Invariant": True}}
    with tempfile.NamedTemporaryFile("w", suffix=".runtimeconfig.json", delete=False) as file:
        json.dump({"runtimeOptions": runtime}, file)
    runtime_of = import_module("clr_loader").get_coreclr
    import_module("pythonnet").set_runtime(runtime_of(runtime_config=file.name, dotnet_root=str(dotnet.resolve())))
    clr = import_module("clr")
    sys.path.append(str(roslyn.resolve()))
    for name in ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"):
        clr.AddReference(str((roslyn / f"{name}.dll").resolve()))


def _rows(folder: Path, paths: list[Path], symbols: list[str], dotnet: Path) -> Iterator[list[Any]]:
    roslyn, csharp = import_module("Microsoft.CodeAnalysis"), import_module("Microsoft.CodeAnalysis.CSharp")
    source, system = import_module("Microsoft.CodeAnalysis.Text").SourceText, import_module("System")
    parse_options = csharp.CSharpParseOptions(csharp.LanguageVersion.Preview)
    parse_options = parse_options.WithPreprocessorSymbols(system.Array[system.String](symbols))
    trees = [
        csharp.CSharpSyntaxTree.ParseText(source.From(text), parse_options, path)
        for path, text in [("", _GLOBAL_USINGS), *((str(path), path.read_text("utf-8-sig")) for path in paths)]
    ]
    assemblies = sorted((dotnet / "shared/Microsoft.NETCore.App").rglob("*.dll"))
    compilation = csharp.CSharpCompilation.Create("Compared").AddSyntaxTrees(*trees)
    compilation = compilation.AddReferences(
        *[roslyn.MetadataReference.CreateFromFile(str(path)) for path in assemblies if _is_managed(path.name)]
    )
    for tree in trees[1:]:
        model = compilation.GetSemanticModel(tree, False)
        own = str(Path(tree.FilePath).relative_to(folder))
        for node in tree.GetRoot().DescendantNodes():
            name = _name_called(node)
            if name is not None:
                line = name.GetLocation().GetLineSpan().StartLinePosition.Line + 1
                symbol = model.GetSymbolInfo(node).Symbol
                yield [own, line, name.ValueText, _targets(symbol, folder) if symbol is not None else None]


def _is_managed(name: str) -> bool:
    return name.startswith(("System.", "Microsoft.", "mscorlib", "netstandard")) and ".Native." not in name


def _name_called(node: Any) -> Any:  # noqa: ANN401 - a node of Roslyn
    """Return the token that names what a node calls, None for a node that calls nothing by name."""
    kind = type(node).__name__
    if kind == "InvocationExpressionSyntax":
        named = node.Expression
    elif kind == "ObjectCreationExpressionSyntax":
        named = node.Type
    elif kind == "AttributeSyntax":
        named = node.Name
    elif kind == "ConstructorInitializerSyntax":
        return None
    else:
        return None
    while True:
        inner = getattr(named, "Identifier", None)
        if inner is not None:
            return inner
        following = getattr(named, "Name", None) or getattr(named, "Right", None)
        if following is None:
            return None
        named = following


def _targets(symbol: Any, folder: Path) -> list[list[Any]] | None:  # noqa: ANN401 - a symbol of Roslyn
    """Return where a method is declared; of a constructor, its type, whose name the call says."""
    method = (getattr(symbol, "ReducedFrom", None) or symbol).OriginalDefinition
    makes = method.Name == ".ctor"
    declared = method.ContainingType if makes else method
    if method.Name == "Invoke" and str(method.ContainingType.TypeKind) == "Delegate":
        return None
    rows = []
    for reference in declared.DeclaringSyntaxReferences:
        span = reference.SyntaxTree.GetLineSpan(reference.Span)
        rows.append([str(Path(span.Path).relative_to(folder)), span.StartLinePosition.Line + 1, declared.Name])
    return rows


if __name__ == "__main__":
    sys.exit(main())
