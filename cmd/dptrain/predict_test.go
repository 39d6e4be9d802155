package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
)

// line is a released model that predicts 10 times a number, for labels that were clipped to 0 to 50.
func line(t *testing.T) string {
	t.Helper()
	schema := table.Schema{
		Label:   table.Label{Name: "y", Task: table.Regression, Clip: &table.Range{Low: 0, High: 50}, Scale: &table.Scale{Shift: 0, Divisor: 10}},
		Columns: []table.Column{{Name: "x"}}, Shape: []int{1},
	}
	return writeReleased(t, release.Model{Task: release.Regression}, schema, []float32{1}, []float32{0})
}

// said runs a command and returns both outputs and the exit code.
func said(terminal bool, args ...string) (out, complaints string, code int) {
	var o, c bytes.Buffer
	code = execute(context.Background(), args, &o, &c, terminal)
	return o.String(), c.String(), code
}

// Categories that are written otherwise than the model knows them would otherwise all be "*" without a word.
func TestPredictSaysThatCategoriesAreUnlisted(t *testing.T) {
	schema := table.Schema{
		Label:   table.Label{Name: "y", Task: table.Regression},
		Columns: []table.Column{{Name: "c", Categories: []string{"No", "Yes", table.All}}}, Shape: []int{3},
	}
	dir := writeReleased(t, release.Model{Task: release.Regression}, schema, []float32{1, 2, 3}, []float32{0})
	for rows, want := range map[string]bool{"c\nyes\nno\nyes\n": true, "c\nYes\nno\nyes\n": false} {
		if _, complaints, code := said(true, "predict", dir, file(t, rows)); code != term.CodeOK || strings.Contains(complaints, "nearly all cells of c are none of the model's categories") != want {
			t.Errorf("%q: %q", rows, complaints)
		}
	}
}

// Predictions beyond the labels' range are clipped. Their number is private: not every standard error has it.
func TestPredictClipsNumbers(t *testing.T) {
	dir, rows := line(t), file(t, "x\n-3\n2\n7\n5\n")
	for _, c := range []struct {
		args      []string
		terminal  bool
		has, lack string
	}{
		{nil, false, "some predictions were beyond the range", "2 of 4"},
		{[]string{"--verbose"}, false, "2 of 4 predictions were beyond the range", ""},
		{nil, true, "2 of 4 predictions", ""},
	} {
		out, complaints, code := said(c.terminal, append([]string{"predict", dir, rows}, c.args...)...)
		if out != "row,y\n1,0\n2,20\n3,50\n4,50\n" || code != term.CodeOK {
			t.Errorf("%v: exit code %d, predicted %q", c.args, code, out)
		}
		if complaints = strings.Join(strings.Fields(complaints), " "); !strings.Contains(complaints, c.has) || c.lack != "" && strings.Contains(complaints, c.lack) {
			t.Errorf("%v: %q, want %q and not %q", c.args, complaints, c.has, c.lack)
		}
	}
	if _, complaints, _ := said(true, "predict", dir, file(t, "x\n0\n5\n")); strings.Contains(complaints, "beyond") {
		t.Errorf("the range's ends are beyond it: %q", complaints)
	}
}

// A column of the file stands where the rows' numbers were, as it is.
func TestPredictKeepsAColumn(t *testing.T) {
	dir, rows := line(t), file(t, "name,x\n\"Ann, A.\",1\n007,2\n")
	if got := output(t, "predict", dir, rows, "--id", "name"); got != "name,y\n\"Ann, A.\",10\n007,20\n" {
		t.Errorf("%q", got)
	}
	var all []struct {
		Row   int
		ID    string
		Value float64
	}
	if err := json.Unmarshal([]byte(output(t, "predict", dir, rows, "--id", "name", "--json")), &all); err != nil || len(all) != 2 || all[1].ID != "007" || all[1].Row != 2 || all[1].Value != 20 {
		t.Errorf("%+v, %v", all, err)
	}
	for id, want := range map[string]struct {
		text string
		code int
	}{"nme": {`no column "nme"`, term.CodeInput}, "y": {"have a column of this name already", term.CodeUsage}} {
		if out, complaints, code := said(false, "predict", dir, rows, "--id", id); code != want.code || out != "" || !strings.Contains(complaints, want.text) {
			t.Errorf("--id %s: exit code %d, %q", id, code, complaints)
		}
	}
}

// With --keep-going each row has its own prediction, or the reason why it has none, and any such row fails the command.
func TestPredictKeepsGoing(t *testing.T) {
	dir, rows := line(t), file(t, "name,x\na,?\nb,1\nc,?\nd,2\n")
	out, _, code := said(false, "predict", dir, rows, "--id", "name", "--keep-going")
	if want := "name,y,problem\na,,\"line 2, column x: X\"\nb,10,\nc,,\"line 4, column x: X\"\nd,20,\n"; code != term.CodeInput || regexp.MustCompile(`x: [^"]+`).ReplaceAllString(out, "x: X") != want {
		t.Errorf("exit code %d, %q", code, out)
	}
	if out, _, code := said(false, "predict", dir, file(t, "x\n1\n?\n"), "--keep-going"); code != term.CodeInput || !strings.HasPrefix(out, "row,y,problem\n1,10,\n2,,") {
		t.Errorf("exit code %d, %q", code, out)
	}
	if out, complaints, code := said(false, "predict", dir, file(t, "x\n1\n"), "--keep-going"); code != term.CodeOK || out != "row,y,problem\n1,10,\n" {
		t.Errorf("exit code %d, %q, %q", code, out, complaints)
	}
}

// digits is a released model of data set glyphs: the logit of 1 is the first pixel's value, and all others are 0.
func digits(t *testing.T) string {
	t.Helper()
	weights := make([]float32, 784*10)
	weights[1] = 1
	dir := writeReleased(t, release.Model{Task: release.Classification}, table.Schema{Label: table.Label{Task: table.Classification, Classes: make([]string, 10)}, Shape: []int{1, 28, 28}}, weights, make([]float32, 10))
	path := filepath.Join(dir, "model.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	m["dataset"] = "glyphs"
	delete(m, "input")
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The first pixel alone decides: white makes a 1, and black, whose value is below 0, the first of the others.
func TestPredictAndEvaluateImages(t *testing.T) {
	dir, folder := digits(t), t.TempDir()
	path := func(name string, contents []byte) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var pictures []string
	idx := binary.BigEndian.AppendUint32(nil, 0x0803)
	for _, n := range []uint32{2, 28, 28} {
		idx = binary.BigEndian.AppendUint32(idx, n)
	}
	for i, name := range []string{"black.png", "white.PNG"} {
		picture := image.NewGray(image.Rect(0, 0, 28, 28))
		picture.Set(0, 0, color.Gray{uint8(255 * i)})
		var b bytes.Buffer
		if err := png.Encode(&b, picture); err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, path(name, b.Bytes()))
		idx = append(idx, picture.Pix...)
	}
	classes := func(args ...string) string {
		var out []string
		for _, l := range strings.Split(strings.TrimSpace(output(t, append([]string{"predict", dir}, args...)...)), "\n") {
			cells := strings.Split(l, ",")
			out = append(out, filepath.Base(cells[0])+" "+cells[1])
		}
		return strings.Join(out, "; ")
	}
	if got := classes(pictures...); got != "file class; black.png 0; white.PNG 1" {
		t.Errorf("%s", got)
	}
	images := path("images-idx3-ubyte", idx)
	if got := classes(images); got != "row class; 1 0; 2 1" {
		t.Errorf("%s", got)
	}
	labels := path("labels-idx1-ubyte", []byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 1})
	var e evaluated
	if err := json.Unmarshal([]byte(output(t, "evaluate", dir, images, labels, "--json")), &e); err != nil || e.Rows != 2 || *e.Accuracy != 0.5 || e.Confusion[7][0] != 1 || e.Confusion[1][1] != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	three := path("three", []byte{0, 0, 8, 1, 0, 0, 0, 3, 7, 1, 1})
	eleven := path("eleven", []byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 10})
	for want, args := range map[string][]string{
		"images without labels can be predicted":     {"evaluate", dir, pictures[0]},
		"3 labels for the 2 images":                  {"evaluate", dir, images, three},
		"label 1 is 10, want 0 to 9":                 {"evaluate", dir, images, eleven},
		"1 files: want a file of images and one of ": {"evaluate", dir, images},
		"1 axes, want 3":                             {"predict", dir, labels},
		"not a PNG or JPEG image":                    {"predict", dir, pictures[0], images},
		"no such file":                               {"predict", dir, folder + "/none.png"},
		"is a directory":                             {"predict", dir, folder},
		"its name says no format":                    {"predict", dir, images, "--id", "x"},
		"this is a classification with 10 outputs":   {"predict", dir, images, "--threshold", "1=0.5"},
	} {
		if out, complaints, code := said(false, args...); code == term.CodeOK || code == term.CodeInternal || out != "" || !strings.Contains(complaints, want) {
			t.Errorf("%v: exit code %d, %q, want %q", args[2:], code, complaints, want)
		}
	}
}
