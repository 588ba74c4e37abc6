// Writes what Go's type checker says each call of a module is to, in the form of call_reference.py.
//
//	go run bench/call_reference.go FOLDER > reference.jsonl
//
// FOLDER holds go.mod. Packages of other modules need not be there: what comes from them has no answer.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

var (
	root, module string
	places       = token.NewFileSet()
	standard     = importer.ForCompiler(places, "source", nil)
	checked      = map[string]*types.Package{}
	uses         = map[*ast.Ident]types.Object{}
	trees        []*ast.File
)

type modules struct{}

func (modules) Import(path string) (*types.Package, error) {
	if path == module || strings.HasPrefix(path, module+"/") {
		if found, ok := checked[path]; ok {
			return found, nil
		}
		checked[path] = nil
		found := check(path, "")
		checked[path] = found
		return found, nil
	}
	if strings.Contains(strings.Split(path, "/")[0], ".") {
		return nil, fmt.Errorf("%s is not here", path)
	}
	return standard.Import(path)
}

// check reads the package at a path: its files, with those of tests inside it, or those of tests beside it.
func check(path, suffix string) *types.Package {
	folder := filepath.Join(root, strings.TrimPrefix(path, module))
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	sort.Strings(names)
	byPackage := map[string][]*ast.File{}
	for _, name := range names {
		if fits, err := build.Default.MatchFile(folder, filepath.Base(name)); err != nil || !fits {
			continue
		}
		tree, _ := parser.ParseFile(places, name, nil, parser.SkipObjectResolution)
		if tree != nil {
			byPackage[tree.Name.Name] = append(byPackage[tree.Name.Name], tree)
		}
	}
	var result *types.Package
	for name, files := range byPackage {
		if strings.HasSuffix(name, "_test") != (suffix != "") {
			continue
		}
		settings := types.Config{Importer: modules{}, Error: func(error) {}, FakeImportC: true}
		found, _ := settings.Check(path+suffix, places, files, &types.Info{Uses: uses})
		trees = append(trees, files...)
		if result == nil || len(files) > 1 {
			result = found
		}
	}
	return result
}

func nameOf(callee ast.Expr) *ast.Ident {
	switch node := callee.(type) {
	case *ast.Ident:
		return node
	case *ast.SelectorExpr:
		return node.Sel
	case *ast.ParenExpr:
		return nameOf(node.X)
	case *ast.IndexExpr:
		return nameOf(node.X)
	case *ast.IndexListExpr:
		return nameOf(node.X)
	}
	return nil
}

func inside(place token.Position) (string, bool) {
	path, err := filepath.Rel(root, place.Filename)
	return filepath.ToSlash(path), err == nil && !strings.HasPrefix(path, "..")
}

func targetsOf(object types.Object) (targets [][]any, known bool) {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	switch object.(type) {
	case *types.Builtin:
		return nil, true
	case *types.Func, *types.TypeName:
		place := places.Position(object.Pos())
		if path, ok := inside(place); ok && object.Pos().IsValid() {
			targets = append(targets, []any{path, place.Line, object.Name()})
		}
		return targets, true
	}
	return nil, false
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	root, _ = filepath.EvalSymlinks(root)
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			module = strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata" || entry.Name() == "vendor" {
				return filepath.SkipDir
			}
			relative, _ := filepath.Rel(root, path)
			name := strings.TrimSuffix(module+"/"+filepath.ToSlash(relative), "/.")
			modules{}.Import(name)
			check(name, "_test")
		}
		return nil
	})
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, tree := range trees {
		ast.Inspect(tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := nameOf(call.Fun)
			if name == nil {
				return true
			}
			at := places.Position(name.Pos())
			path, ok := inside(at)
			if !ok {
				return true
			}
			targets, known := targetsOf(uses[name])
			if known && targets == nil {
				targets = [][]any{}
			}
			line, _ := json.Marshal([]any{path, at.Line, name.Name, targets})
			fmt.Fprintln(out, string(line))
			return true
		})
	}
}
