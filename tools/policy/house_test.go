package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// topLevel is all that may lie in the repository's top folder.
var topLevel = map[string]bool{
	"stack": true, "lb": true, "bench": true, "cmd": true, "tools": true, "go.mod": true, "go.sum": true,
	"Makefile": true, "README.md": true, "ARCHITECTURE.md": true, "BENCHMARKS.md": true, "LICENSE": true,
	".ci": true, ".git": true, ".gitignore": true, "bin": true,
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !topLevel[e.Name()] {
			t.Errorf("%s does not belong into the top folder", e.Name())
		}
	}
}

// sources calls f for each Go file of the repository.
func sources(t *testing.T, f func(path string, file *ast.File, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "bin" || d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		f(strings.TrimPrefix(path, root+"/"), file, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPackagesIntroduceThemselves(t *testing.T) {
	introduced := map[string]bool{}
	sources(t, func(path string, file *ast.File, _ []byte) {
		dir := filepath.Dir(path)
		doc := ""
		if file.Doc != nil && !strings.HasSuffix(file.Name.Name, "_test") {
			doc = file.Doc.Text()
		}
		name := filepath.Base(dir)
		introduced[dir] = introduced[dir] || strings.HasPrefix(doc, "Package "+file.Name.Name+" ") ||
			file.Name.Name == "main" && (strings.HasPrefix(doc, "Command "+name+" ") ||
				strings.HasPrefix(strings.ToLower(doc), name+" "))
	})
	for dir, ok := range introduced {
		if !ok {
			t.Errorf("%s has no package comment that introduces it", dir)
		}
	}
}

// mostLines bounds a file; the trees that are hard to follow have 30 to 40 %
// of their files over 500.
const mostLines = 500

func TestFilesAreShort(t *testing.T) {
	sources(t, func(path string, _ *ast.File, src []byte) {
		if n := strings.Count(string(src), "\n"); n > mostLines {
			t.Errorf("%s has %d lines, more than %d", path, n, mostLines)
		}
	})
}

// Raw system calls stand in stack/sys and in the generator's and the tests'
// own edges, nowhere else.
func TestRawSystemCalls(t *testing.T) {
	raw := regexp.MustCompile(`\b(Raw)?Syscall6?\(`)
	sources(t, func(path string, _ *ast.File, src []byte) {
		if strings.HasPrefix(path, "stack/sys/") || strings.HasPrefix(path, "bench/") ||
			strings.HasPrefix(path, "tools/") || strings.HasSuffix(path, "_test.go") {
			return
		}
		if raw.Match(src) {
			t.Errorf("%s makes raw system calls", path)
		}
	})
}

func imports(file *ast.File) (paths []string) {
	for _, imp := range file.Imports {
		paths = append(paths, strings.Trim(imp.Path.Value, `"`))
	}
	return paths
}

// allImports maps each package to what its files import, tests left out.
func allImports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	sources(t, func(path string, file *ast.File, _ []byte) {
		if !strings.HasSuffix(path, "_test.go") {
			dir := filepath.ToSlash(filepath.Dir(path))
			all[dir] = append(all[dir], imports(file)...)
		}
	})
	return all
}

// productImports keeps imports of this module, without its name.
func productImports(t *testing.T) map[string][]string {
	t.Helper()
	all := allImports(t)
	for pkg, list := range all {
		var own []string
		for _, imp := range list {
			if rest, ok := strings.CutPrefix(imp, "penstock/"); ok {
				own = append(own, rest)
			}
		}
		all[pkg] = own
	}
	return all
}
