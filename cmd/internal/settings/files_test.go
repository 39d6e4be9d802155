package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/datasets/table"
)

// Own files choose their preset, and settings of columns add to the settings of a weaker layer.
func TestOwnFiles(t *testing.T) {
	file := `
data:
  train: a.csv
  test: b.csv
  label: y
  categories: {colour: [red, green]}
  missing: {age: {fill: 40, indicator: true, words: [unknown, "-999"]}, b: {fill: 1}}
  columns: [age, colour, size]
  scale: {age: [40, 12], hours.per.week: [40, 10]}
model: mlp:8
`
	e, err := Resolve(File{Text: []byte(file)}, sets("data.scale.hours.per.week=38,12", "data.clip.age=0, 120", "data.categories.size=<5, >5,", "data.classes=>50K,<=50K", "data.label=z = 1",
		`data.missing.a.b={"fill": 2, "words": ["# 1", "x, y"]}`, "data.missing.b={fill: 3}", "data.shapes.x=2, 3", `data.ignore="d, e",5" pipe, "f"`))
	if err != nil {
		t.Fatal(err)
	}
	want := Data{
		Train: "a.csv", Test: "b.csv", Label: "z = 1", Classes: []string{">50K", "<=50K"},
		Categories: map[string][]string{"colour": {"red", "green"}, "size": {"<5", ">5", ""}},
		Missing: map[string]table.Missing{
			"age": {Fill: 40, Indicator: true, Words: []string{"unknown", "-999"}}, "a.b": {Fill: 2, Words: []string{"# 1", "x, y"}}, "b": {Fill: 3},
		},
		Ignore: []string{"d, e", `5" pipe`, "f"}, Columns: []string{"age", "colour", "size"}, Shapes: map[string][]int{"x": {2, 3}},
		Clip:  map[string][2]float64{"age": {0, 120}},
		Scale: map[string][2]float64{"age": {40, 12}, "hours.per.week": {38, 12}},
	}
	if diff := cmp.Diff(want, e.Data); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if e.Dataset != Files || e.Model != "mlp:8" || e.Preset != Files {
		t.Errorf("data set %s, model %s, preset %s", e.Dataset, e.Model, e.Preset)
	}
	again, err := e.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve(File{Text: again}, nil); err != nil || !cmp.Equal(got, e) {
		t.Errorf("the resolved settings resolve to others: %v\n%s", err, cmp.Diff(e, got))
	}
	if e, err := Resolve(File{Text: []byte(file)}, sets("preset=files-adam")); err != nil || e.Preset != "files-adam" || e.Training.Optimizer != "dp-adam" {
		t.Errorf("%s, %s, %v", e.Preset, e.Training.Optimizer, err)
	}
}

func TestWrongOwnFiles(t *testing.T) {
	for _, c := range []struct {
		file string
		sets []Override
		want string
	}{
		{"data: {train: a.csv}\ndataset: mnist", nil, "data: files of one's own are given with data set mnist"},
		{"dataset: mnist", sets("data.label=y"), "data: labels, columns and their like are those of files of your own, and the data set is mnist; give files by --train"},
		{"dataset: mnist", sets("data.task=regression"), "data: labels, columns and their like are those of files of your own, and the data set is mnist; give files by --train"},
		{"data: {scale: {age: 3}}", nil, `line 1: data.scale.age: want a list of 2 numbers, got "3"`},
		{"data: {scale: {age: [1, 2, 3]}}", nil, `line 1: data.scale.age: want a list of 2 numbers, got the list ["1" "2" "3"]`},
		{"data: {missing: {age: 40}}", nil, `line 1: data.missing.age: want a block such as {fill: 40, indicator: true}, got "40"`},
		{"data: {missing: {age: {indicator: true}}}", nil, `line 1: data.missing.age: no fill; give the number`},
		{"data: {missing: {age: {fill: x}}}", nil, `line 1: data.missing.age.fill: want a number, got "x"`},
		{"data: {missing: {age: {fill: 1_0}}}", nil, `line 1: data.missing.age.fill: want a plain decimal number`},
		{"data: {missing: {age: {fill: 1, fil: 2}}}", nil, `line 1: unknown key data.missing.age.fil; there are fill, indicator, words`},
		{"data: {missing: {age: {fill: 1}, age: {fill: 2}}}", nil, `line 1: data.missing.age is set twice`},
		{"data: {missing: {~: {fill: 1}}}", nil, `line 1: data.missing: want the name of a column`},
		{"data: {train: a.csv, rows_per_unit: 2}", nil, "data.rows_per_unit: no column says whose the rows are"},
		{"data: {train: a.csv, unit: who, rows_per_unit: 129}", nil, "data.rows_per_unit: must be a whole number from 1 to 128, got 129"},
		{"data: {missing: [age]}", nil, `line 1: data.missing: want a block by column, for each a block such as {fill: 40, indicator: true}, got the list`},
		{"", sets("data.train=a.csv", "data.missing.age=40"), `data.missing.age: want a block such as {fill: 40, indicator: true}, got "40"`},
		{"dataset: mnist", sets("data.missing.age={fill: 1}"), "data: labels, columns and their like are those of files of your own"},
		{"data: {categories: {age: [1], age: [2]}}", nil, `line 1: data.categories.age is set twice`},
		{"", sets("data.train=a.csv", "data.scale.age=x,1"), `data.scale.age: want a list of 2 numbers, got the list ["x" "1"]`},
		{"", sets("data.train=a.csv", "data.scale.age=1"), `data.scale.age: want a list of 2 numbers, got the list ["1"]`},
	} {
		if _, err := Resolve(File{Text: []byte(c.file)}, c.sets); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %s", c.file, c.sets, err, c.want)
		}
	}
}

func TestCompleteData(t *testing.T) {
	d := Data{Train: "a.csv", Test: "b.csv", Label: "y"}
	if err := d.Complete(false); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Data){
		"--train": func(d *Data) { d.Train = "" }, "--test": func(d *Data) { d.Test = "" },
		"--label": func(d *Data) { d.Label = "" },
	} {
		wrong := d
		change(&wrong)
		if err := wrong.Complete(false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

// A squared loss diverges at nine times the rate of the best trial, which is the rate of DP-SGD's final run.
func TestOwnFilesAreTrainedByAdam(t *testing.T) {
	file := "data: {train: a.csv, test: b.csv, label: y}"
	for _, preset := range []string{"", "files", "files-adam"} {
		var overrides []Override
		if preset != "" {
			overrides = sets("preset=" + preset)
		}
		e, err := Resolve(File{Text: []byte(file)}, overrides)
		if err != nil || e.Training.Optimizer != "dp-adam" || e.Training.LearningRate != 0.03 {
			t.Errorf("%q: %s at %v, %v", preset, e.Training.Optimizer, e.Training.LearningRate, err)
		}
	}
	e, err := Resolve(File{Text: []byte(file)}, sets("training.optimizer=dp-sgd"))
	if err != nil || e.Training.Optimizer != "dp-sgd" {
		t.Errorf("DP-SGD by request: %s, %v", e.Training.Optimizer, err)
	}
}

// The column of units may be ignored by name, as "data describe" and "data schema" do with ids.
func TestUnitColumn(t *testing.T) {
	d := Data{Train: "a.csv", Label: "y", Unit: "patient", RowsPerUnit: 2, Ignore: []string{"patient"}}
	if err := d.validateUnit(); err != nil {
		t.Error(err)
	}
}
