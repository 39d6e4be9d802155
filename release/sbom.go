package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// The parts of CycloneDX 1.6 that are used here: https://cyclonedx.org/docs/1.6/json/.
type (
	bom struct {
		Schema     string      `json:"$schema"`
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []licensed `json:"licenses"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	// licensed is one licence, or else an expression of several.
	licensed struct {
		License    *license `json:"license,omitempty"`
		Expression string   `json:"expression,omitempty"`
	}
	license struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"` // of one without an identifier
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// sbom lists what is linked into a program, as CycloneDX. Its time is the commit's.
func sbom(src source, p platform, program []byte, parts []part) ([]byte, error) {
	self := purl(ours, src.version) + "#cmd/dptrain"
	out := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{
			Timestamp: src.time.Format(time.RFC3339),
			Component: component{
				Type: "application", Ref: self, Name: "dptrain", Version: src.version, PURL: self,
				Hashes:     []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(program))}},
				Licenses:   []licensed{{License: &license{ID: "Apache-2.0"}}},
				Properties: []property{{"dptrain:commit", src.commit}, {"dptrain:platform", p.String()}},
			},
		},
	}
	for _, part := range parts {
		version := part.version
		if part.path == stdlib {
			version = strings.TrimPrefix(version, "go")
		}
		c := component{Type: "library", Ref: purl(part.path, version), Name: part.path, Version: version, PURL: purl(part.path, version)}
		if part.sum != "" {
			c.Properties = []property{{"dptrain:go.sum", part.sum}}
		}
		c.Licenses = part.licensed()
		out.Components = append(out.Components, c)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(out)
	return b.Bytes(), err
}

// licensed returns the licences of a part's texts, each once. Where none of a folder's texts is a known licence, the
// texts count by their names.
func (p part) licensed() []licensed {
	if expression := chosen[p.path]; expression != "" {
		return []licensed{{Expression: expression}}
	}
	known := map[string]bool{} // folders
	ids := map[string]bool{}
	for name, text := range p.texts {
		for _, id := range identify(text) {
			known[path.Dir(name)], ids[id] = true, true
		}
	}
	var out []licensed
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, licensed{License: &license{ID: id}})
	}
	for _, name := range slices.Sorted(maps.Keys(p.texts)) {
		if !known[path.Dir(name)] && binding(name) {
			out = append(out, licensed{License: &license{Name: "see licenses/" + p.path + "@" + p.version + "/" + name}})
		}
	}
	return out
}

// purl returns a module's package URL: https://github.com/package-url/purl-spec.
func purl(module, version string) string {
	return "pkg:golang/" + module + "@" + url.QueryEscape(version)
}
