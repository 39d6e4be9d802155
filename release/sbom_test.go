package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

var example = source{version: "v1.2.3", commit: commit, time: noon}

func TestSBOM(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person\nobtaining a copy"
	parts := []part{
		{path: "example.com/a/v2", version: "v2.0.0+incompatible", sum: "h1:x=", texts: map[string][]byte{"LICENSE": []byte(mit), "LICENSE-link.txt": []byte("http://example.com"), "sub/COPYING": []byte("Ask me.")}},
		{path: "github.com/golang/freetype", version: "v1.0.0", texts: map[string][]byte{"LICENSE": []byte("Choose.")}},
		{path: stdlib, version: "go1.26.8", texts: map[string][]byte{"LICENSE": []byte(mit), "PATENTS": []byte("No.")}},
	}
	text, err := sbom(example, platform{"linux", "arm64"}, []byte("abc"), parts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := sbom(example, platform{"linux", "arm64"}, []byte("abc"), parts)
	if err != nil || string(again) != string(text) {
		t.Errorf("a second list differs: %v", err)
	}
	type entry struct {
		Name, Version, PURL string
		Hashes              []struct{ Alg, Content string }
		Licenses            []struct {
			License    struct{ ID, Name string }
			Expression string
		}
	}
	var got struct {
		BOMFormat, SpecVersion string
		Version                int
		Metadata               struct {
			Timestamp string
			Component entry
		}
		Components []entry
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	self := got.Metadata.Component
	if got.BOMFormat != "CycloneDX" || got.SpecVersion != "1.6" || got.Version != 1 || got.Metadata.Timestamp != "2026-11-23T12:00:01Z" ||
		self.PURL != "pkg:golang/github.com/dptrain/dptrain@v1.2.3#cmd/dptrain" || self.Version != "v1.2.3" ||
		self.Hashes[0].Content != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%s", text)
	}
	var lines []string
	for _, c := range got.Components {
		line := c.PURL
		for _, l := range c.Licenses {
			line += " | " + l.License.ID + l.License.Name + l.Expression
		}
		lines = append(lines, line)
	}
	want := []string{
		"pkg:golang/example.com/a/v2@v2.0.0%2Bincompatible | MIT | see licenses/example.com/a/v2@v2.0.0+incompatible/sub/COPYING",
		"pkg:golang/github.com/golang/freetype@v1.0.0 | FTL OR GPL-2.0-or-later",
		"pkg:golang/stdlib@1.26.8 | MIT",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
}

func TestIdentify(t *testing.T) {
	const bsd = "Redistribution and use in source and binary forms, with or without modification, are permitted"
	for text, want := range map[string]string{
		"": "", "All rights reserved.": "",
		"# Apache License\n#   Version 2.0, January 2004\n":                        "Apache-2.0",
		"// Licensed under the Apache License,\n// Version 2.0 (the \"License\");": "Apache-2.0",
		bsd: "BSD-2-Clause",
		bsd + ". Neither the name of X may be\n used to endorse or promote products of theirs": "BSD-3-Clause",
		"SIL OPEN FONT LICENSE Version 1.1 - 26 February 2007":                                 "OFL-1.1",
		"This isn't under the GNU General Public License.":                                     "",
		"GNU GENERAL PUBLIC LICENSE\n\t\tVersion 2, June 1991":                                 "GPL-2.0-only",
	} {
		if got := strings.Join(identify([]byte(text)), " "); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	ours, err := os.ReadFile(filepath.Join("..", "LICENSE"))
	if err != nil || !slices.Equal(identify(ours), []string{"Apache-2.0"}) {
		t.Errorf("our own: %v, %v", identify(ours), err)
	}
}

// Licences lie beside packages and above them, but never outside of the module.
func TestLicences(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"LICENSE", "m/COPYING.md", "m/a/licence", "m/a/b/x.go", "m/a/b/license.go", "m/licenses/two.txt", "m/other/LICENSE", "m/NOTICE", "m/unlicensed"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	module := filepath.Join(root, "m")
	texts, err := licences([]folder{{module, filepath.Join(module, "a", "b")}, {module, filepath.Join(module, "a")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"COPYING.md": "m/COPYING.md", "a/licence": "m/a/licence", "licenses/two.txt": "m/licenses/two.txt", "NOTICE": "m/NOTICE"} {
		if string(texts[name]) != want {
			t.Errorf("%s is %q", name, texts[name])
		}
		delete(texts, name)
	}
	if len(texts) > 0 {
		t.Errorf("more: %q", texts)
	}
	if binding("a/NOTICE") || binding("PATENTS") || !binding("COPYING") || !binding("sub/LICENSE-MIT") {
		t.Error("a notice isn't a licence, and a licence is one")
	}
}

func TestSource(t *testing.T) {
	s, err := parseHead(commit + " 1795435201")
	if err != nil || !s.time.Equal(time.Date(2026, 11, 23, 12, 0, 1, 0, time.UTC)) || s.pseudoVersion() != "v0.0.0-20261123120001-0123456789ab" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, head := range []string{"", commit, "0123 5", commit + " x"} {
		if _, err := parseHead(head); err == nil {
			t.Errorf("%q is taken", head)
		}
	}
	for version, want := range map[string]bool{
		"v1.2.3": true, "v0.0.0": true, "v1.2.3-rc.1": true, "1.2.3": false, "v1.2": false, "v01.2.3": false, "v1.2.3-": false,
		"v1.2.3/..": false, "v1.2.3 -X main.x=y": false, "v1.2.3+dirty": false, "v1.2.3\n": false,
	} {
		if got := semantic.MatchString(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
	if p, err := choose("windows/arm64,linux/amd64,linux/amd64"); err != nil || len(p) != 2 || p[0].suffix() != ".zip" || p[0].program() != "dptrain.exe" {
		t.Errorf("%v, %v", p, err)
	}
	for _, list := range []string{"linux", "plan9/amd64", "linux/amd64,"} {
		if _, err := choose(list); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}
