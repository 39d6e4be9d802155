package dptrain_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The scripts that start workers are valid, and what they and the manifest pass to the command are flags that it has.
func TestLaunchScripts(t *testing.T) {
	scripts, err := filepath.Glob("docs/cluster/*.sh")
	if err != nil || len(scripts) != 4 {
		t.Fatalf("docs/cluster has %d scripts, %v, want 4", len(scripts), err)
	}
	for _, script := range scripts {
		source, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if bash, err := exec.LookPath("bash"); err == nil {
			if out, err := exec.Command(bash, "-n", script).CombinedOutput(); err != nil {
				t.Errorf("bash -n %s: %v\n%s", script, err, out)
			}
		}
		checkFlags(t, script, string(source))
	}
	if flags := flagsOf(t, "worker"); !slices.Contains(flags, "idle") || slices.Contains(flags, "repetitions") {
		t.Errorf("flags of worker as read from the source: %v", flags)
	}
}

// calls matches a call of dptrain in a script, in which lines are joined, up to the end of the command.
var calls = regexp.MustCompile(`(?:"?\$dptrain"?|\bdptrain|\()[ ]?(worker|reproduce)\b([^\n;|&)]*)`)

// longFlag matches a long flag at the beginning of a word.
var longFlag = regexp.MustCompile(`(?:^|[\s"])--([a-z][a-z-]*)`)

// checkFlags reports flags in calls of the command that its source doesn't define.
func checkFlags(t *testing.T, name, source string) {
	t.Helper()
	found := 0
	for _, call := range calls.FindAllStringSubmatch(strings.ReplaceAll(source, "\\\n", " "), -1) {
		known := flagsOf(t, call[1])
		for _, flag := range longFlag.FindAllStringSubmatch(call[2], -1) {
			found++
			if !slices.Contains(known, flag[1]) {
				t.Errorf("%s: dptrain %s has no flag --%s", name, call[1], flag[1])
			}
		}
	}
	if found == 0 {
		t.Errorf("%s: no call of dptrain with flags was found", name)
	}
}

// definition matches the definition of a flag; shared matches a list of flags that commands share.
var (
	definition = regexp.MustCompile(`\b(?:fs|Flags\(\))\.\w*Var\(.*?, "([a-z-]+)", `)
	shared     = regexp.MustCompile(`opts\.addOnly\(cmd, ([^)]*)\)`)
)

// flagsOf returns the flags that a command's sources define.
func flagsOf(t *testing.T, command string) []string {
	t.Helper()
	flags := []string{"help", "quiet", "verbose", "json", "log-format"}
	for _, file := range []string{"cluster.go", "cmd_" + command + ".go"} {
		source, err := os.ReadFile(filepath.Join("cmd/dptrain", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range definition.FindAllSubmatch(source, -1) {
			flags = append(flags, string(d[1]))
		}
		for _, list := range shared.FindAllSubmatch(source, -1) {
			flags = append(flags, strings.FieldsFunc(string(list[1]), func(r rune) bool { return strings.ContainsRune(`", `, r) })...)
		}
	}
	return flags
}

// pod is what the test reads of a pod.
type pod struct {
	Security     map[string]any   `yaml:"securityContext"`
	Init         []container      `yaml:"initContainers"`
	Containers   []container      `yaml:"containers"`
	Volumes      []map[string]any `yaml:"volumes"`
	ServiceToken *bool            `yaml:"automountServiceAccountToken"`
	Rest         map[string]any   `yaml:",inline"`
}

type container struct {
	Name     string
	Args     []string
	Security struct {
		Escalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly   bool  `yaml:"readOnlyRootFilesystem"`
		Drop       struct {
			Drop []string
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
	Rest map[string]any `yaml:",inline"`
}

// Every pod of the manifest runs without privileges, and what it passes to dptrain are flags that it has. Whether the
// API server takes the manifest isn't checked here.
func TestKubernetesManifest(t *testing.T) {
	source, err := os.ReadFile("docs/cluster/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for d := yaml.NewDecoder(bytes.NewReader(source)); ; {
		var o struct {
			Version  string `yaml:"apiVersion"`
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				Template struct {
					Spec pod
					Rest map[string]any `yaml:",inline"`
				}
				Rest map[string]any `yaml:",inline"`
			}
		}
		d.KnownFields(true)
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds[o.Kind]++
		p := o.Spec.Template.Spec
		if o.Kind != "Job" && o.Kind != "Deployment" {
			continue
		}
		name := o.Kind + " " + o.Metadata.Name
		if p.Security["runAsNonRoot"] != true || p.ServiceToken == nil || *p.ServiceToken {
			t.Errorf("%s: a pod that may be root, or has a service account's token", name)
		}
		for _, c := range slices.Concat(p.Init, p.Containers) {
			if s := c.Security; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Drop.Drop, []string{"ALL"}) {
				t.Errorf("%s: container %s has privileges: %+v", name, c.Name, s)
			}
			if c.Name == "dptrain" {
				checkFlags(t, name, "dptrain "+strings.Join(c.Args, " "))
			}
		}
		if o.Kind == "Job" && p.Rest["restartPolicy"] != "Never" {
			t.Errorf("%s: restartPolicy %v, and podFailurePolicy needs Never", name, p.Rest["restartPolicy"])
		}
	}
	for kind, want := range map[string]int{"Job": 2, "Deployment": 1, "Service": 1, "NetworkPolicy": 1, "PersistentVolumeClaim": 2} {
		if kinds[kind] != want {
			t.Errorf("the manifest has %d of kind %s, want %d", kinds[kind], kind, want)
		}
	}
}
