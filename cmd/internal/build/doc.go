// Package build says which build of dptrain runs: its version and its commit. The command prints them, and a released
// folder names them, so that a reader of the folder can find the code that made it.
//
// [Current] reads them from the build information in the program. "go build" in a checkout writes the commit, "go
// install MODULE@VERSION" the version. An archive's program has both from its linker:
//
//	go build -ldflags "-X github.com/dptrain/dptrain/cmd/internal/build.version=v1.2.3
//	                   -X github.com/dptrain/dptrain/cmd/internal/build.commit=0123…"
package build
