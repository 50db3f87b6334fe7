package fill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"penstock/bench/result"
)

// all reads every document of the folder, in order of their names.
func (f *filler) all() ([]*result.Document, error) {
	if f.documents != nil {
		return f.documents, nil
	}
	paths, err := filepath.Glob(filepath.Join(f.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no .json of a run in it", f.dir)
	}
	for _, path := range paths {
		d, err := result.Read(path)
		if err != nil {
			return nil, err
		}
		f.documents = append(f.documents, d)
	}
	return f.documents, nil
}

func (f *filler) document(name string) (*result.Document, error) {
	path, err := f.file(name, ".json")
	if err != nil {
		return nil, err
	}
	return result.Read(path)
}

// file is the path of one in the folder. A name that is a path, or that is
// not there, is an error that says which there are.
func (f *filler) file(name, extension string) (string, error) {
	full := name
	if !strings.HasSuffix(name, extension) {
		full += extension
	}
	there, _ := filepath.Glob(filepath.Join(f.dir, "*"+extension))
	for i := range there {
		there[i] = filepath.Base(there[i])
	}
	if !slices.Contains(there, full) {
		return "", fmt.Errorf("%s: must be a file of %s: %s", name, f.dir, strings.Join(there, ", "))
	}
	return filepath.Join(f.dir, full), nil
}

// text is the content of one .txt of the folder.
func (f *filler) text(name string) (string, error) {
	path, err := f.file(name, ".txt")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
