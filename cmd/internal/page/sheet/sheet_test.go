package sheet

import (
	"strings"
	"testing"
)

func TestStyleHasNoComments(t *testing.T) {
	style := Style("/* why\nso */ .own { color: red; }\n")
	if strings.Contains(style, "/*") || strings.Contains(style, "why") || !strings.HasSuffix(style, "\n.own { color: red; }\n") || !strings.Contains(style, "color-scheme: light dark") {
		t.Errorf("%q", style)
	}
}

// The hash of "a" is from sha256sum and base64: printf a | sha256sum | xxd -r -p | base64.
func TestPolicyAllowsTheStyleAlone(t *testing.T) {
	const want = "default-src 'none'; style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='; base-uri 'none'; form-action 'none'"
	if got := Policy("a"); got != want {
		t.Errorf("%s", got)
	}
}
