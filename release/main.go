package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platforms are those that archives are made for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

type options struct {
	out, platforms, version string
	dirty                   bool
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", filepath.Join("build", "release"), "`folder` for the archives")
	flag.StringVar(&o.platforms, "platforms", "", "a `list`, such as linux/amd64,windows/arm64, instead of all platforms")
	flag.BoolVar(&o.dirty, "dirty", false, "build with changes that aren't committed; the version says so")
	flag.Parse()
	if flag.NArg() > 1 {
		fmt.Fprintf(os.Stderr, "release: want one version at most, got %q\n", flag.Args())
		os.Exit(2)
	}
	o.version = flag.Arg(0)
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the archives and their sums. Its working directory is the module's root.
func run(o options) error {
	wanted, err := choose(o.platforms)
	if err != nil {
		return err
	}
	src, err := readSource(o.version, o.dirty)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	common, err := documents(src, work)
	if err != nil {
		return err
	}
	sums := map[string][sha256.Size]byte{}
	for _, p := range wanted {
		name, content, err := makeArchive(src, p, work, common)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		sums[name] = sha256.Sum256(content)
		if err := os.WriteFile(filepath.Join(o.out, name), content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s %d bytes\n", filepath.Join(o.out, name), len(content))
	}
	return os.WriteFile(filepath.Join(o.out, "SHA256SUMS"), sumsFile(sums), 0o644)
}

// choose returns the platforms of a list, all for "".
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms, nil
	}
	var out []platform
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("unknown platform %q; there are %v", name, platforms)
		}
		if !slices.Contains(out, platforms[at]) {
			out = append(out, platforms[at])
		}
	}
	return out, nil
}

// makeArchive builds for one platform and returns the archive's name and content.
func makeArchive(src source, p platform, work string, common []file) (name string, content []byte, err error) {
	binary := filepath.Join(work, p.goos+"-"+p.goarch)
	if err := compile(src, p, binary); err != nil {
		return "", nil, err
	}
	parts, err := linked(p, binary)
	if err != nil {
		return "", nil, err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", nil, err
	}
	bom, err := sbom(src, p, program, parts)
	if err != nil {
		return "", nil, err
	}
	files := slices.Clone(common)
	files = append(files, file{p.program(), 0o755, program}, file{"sbom.cdx.json", 0o644, bom})
	for _, part := range parts {
		files = append(files, part.files()...)
	}
	folder := fmt.Sprintf("dptrain-%s-%s-%s", src.version, p.goos, p.goarch)
	content, err = pack(p.goos == "windows", folder, files, src.time)
	return folder + p.suffix(), content, err
}

// documents returns the files that all archives share. The command itself, built for this machine, writes the
// completions.
func documents(src source, work string) ([]file, error) {
	var files []file
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
	if err := filepath.WalkDir("docs", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if filepath.Ext(name) == ".sh" {
			mode = 0o755
		}
		files = append(files, file{filepath.ToSlash(name), mode, content})
	}
	binary := filepath.Join(work, "here")
	if err := compile(src, platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{
		"bash": "dptrain.bash", "zsh": "_dptrain", "fish": "dptrain.fish", "powershell": "dptrain.ps1",
	} {
		script, err := command{binary}.output("completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + name, 0o644, []byte(script)})
	}
	return files, nil
}
