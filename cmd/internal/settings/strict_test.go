package settings

import (
	"fmt"
	"strings"
	"testing"
)

// YAML silently reads these as other numbers than a person, or as the preset's value.
func TestNumbersArePlain(t *testing.T) {
	const plain = `want a plain decimal number such as 10 or 2.5e-3, got `
	for text, want := range map[string]string{
		"1_0": plain, "0x10": plain, "010": plain, "0o10": plain, "0b11": plain, "-010": plain, ".inf": plain, "-.inf": plain, ".nan": plain, "1_0.5": plain, "00.5": plain,
		"null": "no value", "~": "no value", `"3"`: "want a ", "ten": "want a ", "true": "want a ", "[1]": "want a ", "2001-01-01": "want a ",
	} {
		for _, key := range []string{"privacy.epsilon", "privacy.delta", "performance.workers", "text_length"} {
			fits := func(err error) bool { return err != nil && strings.Contains(err.Error(), key+": "+want) }
			if _, err := Resolve(File{}, sets(key+"="+text)); !fits(err) {
				t.Errorf("%s=%s: %v", key, text, err)
			}
			if _, err := Resolve(File{Text: []byte(inBlocks(key, text))}, nil); !fits(err) {
				t.Errorf("%s: %s in a file: %v", key, text, err)
			}
		}
		for _, c := range []struct{ key, value string }{
			{"tuning.learning_rates", "[1, %s]"}, {"performance.devices", "[0, %s]"}, {"data.clip", "{age: [0, %s]}"}, {"data.scale", "{age: %s}"},
		} {
			value := fmt.Sprintf(c.value, text)
			if _, err := Resolve(File{Text: []byte(inBlocks(c.key, value))}, nil); err == nil || !strings.Contains(err.Error(), c.key) {
				t.Errorf("%s: %s in a file: %v", c.key, value, err)
			}
		}
	}
	for text, want := range map[string]float64{"10": 10, "+1.5": 1.5, "0.5": 0.5, ".5": 0.5, "5.": 5, "1e-3": 1e-3, "2.5E+1": 25, "1e05": 1e5, "0": 0} {
		e, err := Resolve(File{Text: []byte(inBlocks("activation.offset", text))}, nil)
		if err != nil || e.Activation.Offset != want {
			t.Errorf("%s: %v, %v", text, e.Activation.Offset, err)
		}
	}
}

// inBlocks returns a settings file with a setting at a dotted path.
func inBlocks(key, value string) string {
	block, name, nested := strings.Cut(key, ".")
	if !nested {
		return key + ": " + value + "\n"
	}
	return block + ":\n  " + name + ": " + value + "\n"
}

func TestNothingIsNoValue(t *testing.T) {
	for _, file := range []string{
		"model: null\n", "privacy: ~\n", "privacy:\n", "data: {classes: [no, ~]}\n", "data: {categories: {a: ~}}\n", "data: {categories: {~: [a]}}\n",
		"data: {clip: {<<: {age: [0, 1]}}}\n", "data: {ignore: [&a x, *a]}\n", "tuning: {search: null}\n",
	} {
		if _, err := Resolve(File{Text: []byte(file)}, nil); err == nil {
			t.Errorf("%q: no error", file)
		}
	}
	for _, o := range []Override{
		{Key: "performance.devices", Value: " "}, {Key: "tuning.tune", Value: " "}, {Key: "tuning.tune", Value: ","}, {Key: "dataset", Value: ""},
		{Key: "preset", Value: " "}, {Key: "data.train", Value: ""}, {Key: "data.clip.age", Value: " "}, {Key: "privacy.epsilon", Value: "2 # of 3"},
		{Key: "tuning.learning_rates", Value: "1, 2 # 3"}, {Key: "privacy.epsilon", Value: "2\n---\n3"},
	} {
		if _, err := Resolve(File{}, []Override{o}); err == nil || !strings.HasPrefix(err.Error(), o.Key+": ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for key, value := range map[string]string{"data.ignore": ",", "data.classes": "a,,b"} {
		if _, err := Resolve(File{}, sets("data.train=a.csv", key+"="+value)); err == nil || !strings.HasPrefix(err.Error(), key+": an empty ") {
			t.Errorf("%s=%s: %v", key, value, err)
		}
	}
	if _, err := Resolve(File{}, sets("data.train=a.csv", "data.categories.colour=red,")); err != nil {
		t.Errorf("a category for what is missing: %v", err)
	}
}

// Two values for one setting are an error.
func TestContradictions(t *testing.T) {
	from := func(source, text string) Override {
		o := sets(text)[0]
		o.From = source
		return o
	}
	for _, c := range []struct {
		given []Override
		want  string
	}{
		{[]Override{from("--epsilon", "privacy.epsilon=2"), from("--epsilon", "privacy.epsilon=3")}, `privacy.epsilon: --epsilon gives "2" and --epsilon "3"; give one of them`},
		{[]Override{from("--set", "privacy.epsilon=3"), from("--epsilon", "privacy.epsilon=2")}, `privacy.epsilon: --set gives "3" and --epsilon "2"; give one of them`},
		{[]Override{from("--set", "privacy.epsilon=3"), from("--epsilon", "privacy.epsilon=3.0")}, ""},
		{sets("tuning.learning_rates=1,2", "tuning.learning_rates=[1, 2]"), ""},
		{sets("tuning.learning_rates=1,2", "tuning.learning_rates=2,1"), "tuning.learning_rates: "},
		{sets("model=mlp", "model=linear"), "model: "},
		{sets("data.train=a", "data.clip.age=0,1", "data.clip.age=0,2"), "data.clip.age: "},
		{sets("data.train=a", "data.clip.age=0,1", "data.clip.age=0, 1.0"), ""},
		{sets("data.train=a", "data.clip={age: [0, 1]}", "data.clip.age=0,2"), "data.clip.age: "},
		{sets("data.train=a", "data.clip={age: [0, 1]}", "data.clip={size: [0, 1]}"), ""},
	} {
		_, err := Resolve(File{}, c.given)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
}

// A column isn't lost if a whole block is given after it.
func TestBlocksAndColumnsAddUp(t *testing.T) {
	e, err := Resolve(File{}, sets("data.train=a", "data.clip.age=0,1", "data.clip={size: [0, 2]}"))
	if err != nil || e.Data.Clip["age"] != [2]float64{0, 1} || e.Data.Clip["size"] != [2]float64{0, 2} {
		t.Errorf("%v, %v", e.Data.Clip, err)
	}
}

// list returns the numbers from 1 to n.
func list(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(texts, ",")
}

// Each value of a list is compared with all others: 200,000 values took forever.
func TestListsAreBounded(t *testing.T) {
	long := list(3000)
	for _, key := range []string{"tuning.learning_rates", "tuning.batch_sizes", "tuning.epochs", "performance.devices"} {
		_, err := Resolve(File{}, sets(key+"="+long))
		if want := key + ": 3000 values; at most 1000 can be listed"; err == nil || err.Error() != want {
			t.Errorf("%.80v, want %s", err, want)
		}
	}
	if _, err := Resolve(File{}, sets("tuning.learning_rates="+list(1000))); err != nil {
		t.Errorf("a thousand: %.80v", err)
	}
	_, err := Resolve(File{}, sets("tuning.tune=rate,epochs", "tuning.learning_rates="+list(1000), "tuning.epochs="+list(1000)))
	if err == nil || !strings.Contains(err.Error(), "a grid of 1000000 candidates; at most 100000 can be searched") {
		t.Errorf("a grid: %.80v", err)
	}
	if _, err := Resolve(File{}, sets("performance.devices=x,"+long)); err == nil || len(err.Error()) > 500 {
		t.Errorf("an error of %d bytes", len(fmt.Sprint(err)))
	}
}

// Names may have any characters. Other values must be plain, in files and on the command line.
func TestNamesAndNodes(t *testing.T) {
	e, err := Resolve(File{}, sets("data.train=a.csv", "data.ignore=[id#1, id]", "data.categories.colour=[red#1, green]"))
	if err != nil || len(e.Data.Ignore) != 2 || e.Data.Ignore[0] != "id#1" || e.Data.Categories["colour"][0] != "red#1" {
		t.Errorf("%v, %v", e.Data, err)
	}
	for text, want := range map[string]string{
		"data: {train: a.csv, ignore: [&a x, *a]}":              "data.ignore: anchors and aliases are not supported",
		"performance: {devices: [&a 1]}":                        "performance.devices: anchors and aliases are not supported",
		"data: {train: a.csv, clip: {<<: {age: [0, 1]}}}":       "data.clip: want the name of a column",
		"model: !<tag:yaml.org,2002:null> ''":                   "model: no value",
		"data: {train: a.csv, ignore: [!!null x]}":              "data.ignore: want a list",
		"data: {train: a.csv, classes: [no, !!null '', maybe]}": "data.classes: want a list",
	} {
		if _, err := Resolve(File{Text: []byte(text)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The caller's list keeps its order.
func TestOverridesAreTheCallers(t *testing.T) {
	given := sets("data.train=a", "data.clip.age=0,1", "data.clip={size: [0, 2]}")
	keys := fmt.Sprint(given)
	if _, err := Resolve(File{}, given); err != nil || fmt.Sprint(given) != keys {
		t.Errorf("%v, %v", given, err)
	}
	_, err := Resolve(File{}, sets("model=mlp", "model=linear"))
	if want := `model: one setting gives "mlp" and one setting "linear"; give one of them`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The largest grid, and a random search, which makes no candidate before it is drawn.
func TestLargestGrid(t *testing.T) {
	tuned := sets("tuning.tune=rate,epochs", "tuning.learning_rates="+list(1000), "tuning.epochs="+list(100))
	if _, err := Resolve(File{}, tuned); err != nil {
		t.Errorf("100,000 candidates: %.80v", err)
	}
	tuned[2] = sets("tuning.epochs=" + list(101))[0]
	if _, err := Resolve(File{}, tuned); err == nil {
		t.Error("101,000 candidates")
	}
	if _, err := Resolve(File{}, append(tuned, sets("tuning.search=random", "tuning.ranges=rate")...)); err != nil {
		t.Errorf("at random: %.80v", err)
	}
}

// A template with an empty variable doesn't train on another data set.
func TestAnEmptyNameIsNoName(t *testing.T) {
	for text, key := range map[string]string{
		`dataset: ""`: "dataset", "dataset: '  '": "dataset", "dataset: |\n": "dataset", `preset: ""`: "preset", `{preset: "", dataset: mnist}`: "preset",
	} {
		e, err := Resolve(File{Text: []byte(text), Name: "own.yaml"}, nil)
		if want := "own.yaml: line 1: " + key + ": no value; want a name, or leave the line out"; err == nil || err.Error() != want {
			t.Errorf("%s: data set %q, %v; want %s", text, e.Dataset, err, want)
		}
	}
}
