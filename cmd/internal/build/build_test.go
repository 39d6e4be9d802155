package build

import (
	"runtime/debug"
	"testing"
)

const whole = "0123456789abcdef0123456789abcdef01234567"

func ours(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
	return &debug.BuildInfo{Main: debug.Module{Path: "github.com/dptrain/dptrain", Version: version}, Settings: settings}
}

func TestOf(t *testing.T) {
	revision, clean, changed := debug.BuildSetting{Key: "vcs.revision", Value: whole}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for name, c := range map[string]struct {
		info            *debug.BuildInfo
		version, commit string
		want            string
	}{
		"nothing known":          {nil, "", "", "dptrain (devel)"},
		"a test's binary":        {ours(""), "", "", "dptrain (devel)"},
		"go build":               {ours("v0.0.0-20261123131415-0123456789ab", revision, clean), "", "", "dptrain v0.0.0-20261123131415-0123456789ab, commit " + whole},
		"go build with changes":  {ours("v0.0.0-20261123131415-0123456789ab+dirty", revision, changed), "", "", "dptrain v0.0.0-20261123131415-0123456789ab+dirty, commit " + whole + " with changes"},
		"go install of a tag":    {ours("v1.2.3"), "", "", "dptrain v1.2.3"},
		"go install of a commit": {ours("v1.2.4-0.20261123131415-0123456789ab"), "", "", "dptrain v1.2.4-0.20261123131415-0123456789ab, commit 0123456789ab"},
		"a pre-release":          {ours("v1.2.3-beta.1"), "", "", "dptrain v1.2.3-beta.1"},
		"an archive":             {ours("(devel)"), "v1.2.3", whole, "dptrain v1.2.3, commit " + whole},
		"an archive, other vcs":  {ours("v7.7.7", debug.BuildSetting{Key: "vcs.revision", Value: "feed"}, changed), "v1.2.3", whole, "dptrain v1.2.3, commit " + whole},
		"an archive of changes":  {ours("(devel)"), "v1.2.3+dirty", whole + "-dirty", "dptrain v1.2.3+dirty, commit " + whole + " with changes"},
		"an image":               {ours("(devel)"), "", whole, "dptrain (devel), commit " + whole},
	} {
		if got := of(c.info, c.version, c.commit).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A folder's reader may compare builds: the same program returns the same each time.
func TestCurrentIsStable(t *testing.T) {
	if first := Current(); first != Current() || first.Program != "dptrain" || first.Version == "" {
		t.Errorf("%+v, then %+v", first, Current())
	}
}
