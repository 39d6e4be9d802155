package emulator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// ErrNoCompiler reports that this machine can't have an emulated device, because it has no C++ compiler whose libraries
// this program can open.
var ErrNoCompiler = errors.New("no C++ compiler for the emulated device")

// flags keep arithmetic as it is written, and names inside the library: two libraries may have kernels of one name.
var flags = []string{"-O2", "-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off"}

// emulated holds the emulated device: the header that device.cuh includes in place of CUDA, and its implementation.
//
//go:embed *.h
var emulated embed.FS

// deviceSource is the name of the one file that has the device itself. No kernel can have it.
const (
	deviceSource = "emulated-device.cc"
	deviceText   = "#include \"emulated_device.h\"\n"
)

// Build compiles kernels, the files *.cu, each by itself. They include the files *.cuh beside them and those of
// headers; a file beside them takes precedence over one of the same name in headers. Without a compiler the error is
// [ErrNoCompiler]. The compiler is the one that the environment variable CXX names, or else g++, clang++ or c++. extra
// are flags added after the package's own: for kernels that run only once, less optimization takes less time in all.
func Build(ctx context.Context, headers, kernels fs.FS, extra ...string) (*Library, error) {
	files, err := collect(headers, kernels)
	if err != nil {
		return nil, fmt.Errorf("kernels: %w", err)
	}
	c, err := findCompiler(ctx)
	if err != nil {
		return nil, err
	}
	c.flags = slices.Clone(flags)
	if strings.Contains(c.version, "Free Software Foundation") { // GCC
		// It gives registers to each loop by itself, which takes as long as all the rest of compiling where a kernel
		// was translated from PTX, into thousands of blocks.
		c.flags = append(c.flags, "-fira-region=one")
	}
	c.flags = append(c.flags, extra...)

	cache, err := os.UserCacheDir()
	if err != nil {
		// No home: compile for this process only. The library stays when its file goes.
		dir, err := os.MkdirTemp("", "dptrain-emulated-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		return c.make(ctx, files, filepath.Join(dir, "kernels.so"))
	}
	file := filepath.Join(cache, "dptrain", "emulated", c.hash(files)+".so")
	if _, err := os.Stat(file); err == nil {
		// A file that can't be opened is made anew.
		if l, err := open(file); err == nil {
			return l, nil
		}
	}
	return c.make(ctx, files, file)
}

// collect returns the contents of all files that are compiled or included.
func collect(headers, kernels fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{deviceSource: []byte(deviceText)}
	add := func(from fs.FS, pattern string) (int, error) {
		names, err := fs.Glob(from, pattern)
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			if files[name], err = fs.ReadFile(from, name); err != nil {
				return 0, err
			}
		}
		return len(names), nil
	}
	kernelCount := 0
	for _, from := range []struct {
		fs      fs.FS
		pattern string
	}{{emulated, "*.h"}, {headers, "*.cuh"}, {kernels, "*.cuh"}, {kernels, "*.cu"}} {
		n, err := add(from.fs, from.pattern)
		if err != nil {
			return nil, err
		}
		kernelCount = n
	}
	if kernelCount == 0 {
		return nil, errors.New("no file *.cu")
	}
	return files, nil
}

// compiler is a command that compiles C++.
type compiler struct {
	command []string
	version string
	flags   []string
}

// loadable reports whether the emulated device can be built and opened on this system.
func loadable() bool {
	switch runtime.GOOS {
	case "darwin", "freebsd", "linux", "netbsd":
		return true
	}
	return false
}

func findCompiler(ctx context.Context) (*compiler, error) {
	if !loadable() {
		return nil, fmt.Errorf("%w on %s", ErrNoCompiler, runtime.GOOS)
	}
	commands := [][]string{{"g++"}, {"clang++"}, {"c++"}}
	hint := "none of g++, clang++, c++ is here; install one or set CXX"
	if cxx := strings.Fields(os.Getenv("CXX")); len(cxx) > 0 {
		commands = [][]string{cxx}
		hint = fmt.Sprintf("CXX is %q, which isn't here", cxx[0])
	}
	for _, command := range commands {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		c := &compiler{command: command}
		version, err := c.run(ctx, "", "--version")
		if err != nil {
			return nil, err
		}
		c.version = version
		return c, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrNoCompiler, hint)
}

// run returns the compiler's output.
func (c *compiler) run(ctx context.Context, dir string, arguments ...string) (string, error) {
	arguments = append(slices.Clone(c.command[1:]), arguments...)
	cmd := exec.CommandContext(ctx, c.command[0], arguments...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", c.command[0], strings.Join(arguments, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// hash returns a name for the result of compiling files.
func (c *compiler) hash(files map[string][]byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %q %q %q\n", runtime.GOOS, runtime.GOARCH, c.command, c.version, c.flags)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q\n", name, files[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// make compiles and links to file, which appears whole or not at all, and opens it.
func (c *compiler) make(ctx context.Context, files map[string][]byte, file string) (*Library, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), "build-") // on the same file system
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}

	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var sources []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == deviceSource || path.Ext(name) == ".cu" {
			sources = append(sources, name)
		}
	}
	link := []string{"-shared", "-o", "kernels.so"}
	objects := make([]string, len(sources))
	for i, name := range sources {
		group.Go(func() (err error) {
			objects[i], err = c.object(groupContext, dir, filepath.Dir(file), files, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	link = append(link, objects...)
	if _, err := c.run(ctx, dir, append(link, "-lm")...); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, "kernels.so"), file); err != nil {
		return nil, err
	}
	return open(file)
}

// object compiles one source and returns the object file, which is kept: it is the same whatever it is linked with. The
// device itself runs more than any kernel, and so is always optimized.
func (c *compiler) object(ctx context.Context, dir, cache string, files map[string][]byte, name string) (string, error) {
	own := *c
	own.flags = append(slices.Clone(c.flags), "-c", "-o", name+".o")
	if name == deviceSource {
		own.flags = append(own.flags, "-O2")
	}
	sources := map[string][]byte{}
	include(sources, files, name)
	object := filepath.Join(cache, own.hash(sources)+".o")
	if _, err := os.Stat(object); err == nil {
		return object, nil
	}
	// -x: that a file .cu is C++ is news to the compiler.
	if _, err := own.run(ctx, dir, append(own.flags, "-x", "c++", name)...); err != nil {
		return "", err
	}
	return object, os.Rename(filepath.Join(dir, name+".o"), object)
}

var includes = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"]+)"`)

// include adds a file and all that it includes, also where a condition leaves that out.
func include(to, files map[string][]byte, name string) {
	text, ok := files[name]
	if _, there := to[name]; there || !ok {
		return
	}
	to[name] = text
	for _, m := range includes.FindAllSubmatch(text, -1) {
		include(to, files, string(m[1]))
	}
}
