package figure

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"
)

func figures(t *testing.T) map[string]Figure {
	t.Helper()
	return map[string]Figure{"bounds": fewBounds(t), "lines": paperLines(t), "comparison": compared(t)}
}

func encoded(t *testing.T, f Figure) map[string][]byte {
	t.Helper()
	all, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, file := range all {
		files[file.Extension] = file.Content
	}
	return files
}

func TestSameNumbersSameFiles(t *testing.T) {
	for name, f := range figures(t) {
		first, second := encoded(t, f), encoded(t, f)
		for extension := range first {
			if !bytes.Equal(first[extension], second[extension]) {
				t.Errorf("%s.%s differs", name, extension)
			}
		}
		// Two PDF files made in one second would have the same dates anyway.
		for _, date := range []string{"/CreationDate (D:19700101000000)", "/ModDate (D:19700101000000)"} {
			if !bytes.Contains(first["pdf"], []byte(date)) {
				t.Errorf("%s.pdf: no %s", name, date)
			}
		}
	}
}

func TestFilesAreWhatTheyShouldBe(t *testing.T) {
	for name, f := range figures(t) {
		files := encoded(t, f)
		rows, err := csv.NewReader(bytes.NewReader(files["csv"])).ReadAll() // checks that rows have one length
		if err != nil || len(rows) != len(f.Table()) {
			t.Errorf("%s.csv: %d rows, %v", name, len(rows), err)
		}
		picture, err := png.Decode(bytes.NewReader(files["png"]))
		if err != nil {
			t.Errorf("%s.png: %v", name, err)
		} else if size := picture.Bounds().Size(); size.X != 2200 {
			t.Errorf("%s.png: %v", name, size)
		}
		if !bytes.HasPrefix(files["pdf"], []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(files["pdf"]), []byte("%%EOF")) {
			t.Errorf("%s.pdf isn't one", name)
		}
		if !bytes.Contains(files["pdf"], []byte("/FontFile")) {
			t.Errorf("%s.pdf doesn't have its font", name)
		}
		checkSVG(t, name, files["svg"])
	}
}

func checkSVG(t *testing.T, name string, content []byte) {
	t.Helper()
	elements := map[string]int{}
	decoder := xml.NewDecoder(bytes.NewReader(content))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s.svg: %v", name, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
			for _, a := range start.Attr { // viewers stop drawing a path at a mistake
				if a.Name.Local == "d" && (!strings.HasPrefix(a.Value, "M") || strings.Contains(a.Value, "ZZ")) {
					t.Errorf("%s.svg: path %.20s", name, a.Value)
				}
			}
		}
	}
	if elements["svg"] != 1 || elements["path"] < 20 || elements["text"] < 20 {
		t.Errorf("%s.svg: elements %v", name, elements)
	}
}

// The margin is white, so nothing is cut off, even where the key is nearly as wide as the figure.
func TestNothingIsCutOff(t *testing.T) {
	s := PaperLines()
	s.SamplingRates = s.SamplingRates[:1]
	all := figures(t)
	for _, noise := range []float64{2, 2.001, 2.0001, 2.00001, 2.000001} {
		s.Candidates = []Candidate{{noise, 5000}, {4, 10000}, {noise, 100000}}
		l, err := ComputeLines(s)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprintf("narrow with noise %v", noise)] = l
	}
	for name, f := range all {
		content, err := f.drawing().render(newPNG)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		size := picture.Bounds().Size()
		for x := range size.X {
			for y := range size.Y {
				const width = 4 * dotsPerInch / 72 // of the margin, less the half of a letter that may hang over
				if x >= width && y >= width && x < size.X-width && y < size.Y-width {
					continue
				}
				if r, g, b, _ := picture.At(x, y).RGBA(); r+g+b != 3*0xffff {
					t.Fatalf("%s: ink at %d, %d of %v", name, x, y, size)
				}
			}
		}
	}
}
