// Command release makes the archives of a version: call it by release/build.
//
//	release/build [--out DIR] [--platforms LIST] [--dirty] [VERSION]
//
// DIR gets an archive for each platform and SHA256SUMS; it is in the module's root unless absolute, and build/release
// unless given. An archive has the command, its documents, completions, the licences of all that is linked
// into the command, and a list of these modules (sbom.cdx.json, CycloneDX 1.6). VERSION is a semantic version, v1.2.3;
// without it the archives get the version that the go command would make of the commit.
//
// The same commit gives the same bytes with the same version of Go: nothing in an archive depends on the time, the
// machine, its users or its folders. Times are the commit's.
//
// The order of the files is that of the work: source.go reads the commit, compile.go builds, licences.go and sbom.go
// describe what was linked, archive.go packs.
package main
