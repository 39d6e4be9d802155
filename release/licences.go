package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is a module, or Go's standard library, that is linked into the command.
type part struct {
	path, version string
	sum           string            // of the module, as in go.sum
	texts         map[string][]byte // its licences, by their files' names within the module
}

// files returns the part's licences as files of an archive.
func (p part) files() []file {
	var out []file
	for name, text := range p.texts {
		out = append(out, file{path.Join("licenses", p.path+"@"+p.version, name), 0o644, text})
	}
	return out
}

// stdlib is the name of Go's standard library among the parts, as scanners for vulnerabilities spell it.
const stdlib = "stdlib"

// linked returns the parts of a built command, sorted. One without the text of a licence is an error, since it may not
// be passed on.
func linked(p platform, binary string) ([]part, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	folders, err := packages(p)
	if err != nil {
		return nil, err
	}
	standard := part{path: stdlib, version: info.GoVersion}
	if standard.texts, err = licencesOfGo(p); err != nil {
		return nil, err
	}
	parts := []part{standard}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("module %s is replaced: a release takes modules as they were published", m.Path)
		}
		found := part{path: m.Path, version: m.Version, sum: m.Sum}
		if found.texts, err = licences(folders[m.Path]); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(found.texts)), binding) {
			return nil, fmt.Errorf("module %s %s has no licence beside the packages that are linked; it may not be passed on", m.Path, m.Version)
		}
		parts = append(parts, found)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.path, b.path) })
	return parts, nil
}

// licencesOfGo reads those of the Go that builds.
func licencesOfGo(p platform) (map[string][]byte, error) {
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Env = p.environment()
	root, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	texts := map[string][]byte{}
	for _, name := range []string{"LICENSE", "PATENTS"} {
		if texts[name], err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), name)); err != nil {
			return nil, fmt.Errorf("licence of Go: %w; use a Go from go.dev, which has it", err)
		}
	}
	return texts, nil
}

// folder is a package's folder within that of its module.
type folder struct{ module, pkg string }

// packages returns the folders of all packages that are linked into the command, by module path.
func packages(p platform) (map[string][]folder, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}\t{{.Dir}}", "./cmd/dptrain")
	cmd.Env, cmd.Stderr = p.environment(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	folders := map[string][]folder{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimRight(line, "\r\n"), "\t"); len(f) == 3 {
			folders[f[0]] = append(folders[f[0]], folder{f[1], f[2]})
		}
	}
	return folders, nil
}

// legal matches the names of files, and of folders of files, that have to go along.
var legal = regexp.MustCompile(`(?i)^(li[cs]en[cs]es?|copying|copyright|notice|patents|ofl|unlicense)([-_.].*)?$`)

// binding reports whether a file is a licence, and not only a notice beside one.
func binding(name string) bool {
	return !regexp.MustCompile(`(?i)^(notice|patents|copyright)`).MatchString(path.Base(name))
}

// licences reads the legal files in the packages' folders and all folders above them within the module.
func licences(folders []folder) (map[string][]byte, error) {
	texts := map[string][]byte{}
	seen := map[string]bool{}
	for _, f := range folders {
		for dir := f.pkg; !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if err := readLegal(texts, f.module, dir); err != nil {
				return nil, err
			}
			if dir == f.module {
				break
			}
		}
	}
	return texts, nil
}

// readLegal adds the legal files of one folder to texts.
func readLegal(texts map[string][]byte, module, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		err := filepath.WalkDir(filepath.Join(dir, e.Name()), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(name, ".go") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			within, err := filepath.Rel(module, name)
			texts[filepath.ToSlash(within)] = text
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
