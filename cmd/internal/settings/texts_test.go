package settings

import (
	"strings"
	"testing"
)

// A column of texts, named in any layer, makes embedding the default model. Saved settings resolve to themselves.
func TestTextsOfFiles(t *testing.T) {
	files := "data: {train: a.csv, test: b.csv, label: y"
	for _, c := range []struct {
		file, model string
		overrides   []Override
		length      int
	}{
		{files + "}", "linear", nil, 0},
		{files + ", text: x}", "embedding", nil, 256},
		{files + "}", "embedding", []Override{{Key: "data.text", Value: "x"}}, 256},
		{files + ", text: x}\ntext_length: 64", "embedding", nil, 64},
		{files + ", text: x}", "linear", []Override{{Key: "model", Value: "linear"}}, 256},
		{files + ", text: x}\nmodel: cnn\nprivacy: {epochs: 3}", "cnn", nil, 256},
	} {
		e, err := Resolve(File{Text: []byte(c.file)}, c.overrides)
		if err != nil {
			t.Fatal(err)
		}
		if e.Model != c.model || e.TextLength != c.length || strings.Contains(c.file, "epochs") && e.Privacy.Epochs != 3 {
			t.Errorf("%s: model %s, length %d, %v epochs", c.file, e.Model, e.TextLength, e.Privacy.Epochs)
		}
		text, err := e.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Resolve(File{Text: text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if saved, err := again.YAML(); err != nil || string(saved) != string(text) {
			t.Errorf("%s: saved settings resolve to others: %v", c.file, err)
		}
	}
	if _, err := Resolve(File{Text: []byte(files + "}\ntext_length: 9")}, nil); err == nil || !strings.Contains(err.Error(), "--text COLUMN") {
		t.Errorf("a length without a column of texts: %v", err)
	}
}
