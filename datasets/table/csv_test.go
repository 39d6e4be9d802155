package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes a file and returns its path.
func put(t testing.TB, name, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// open opens a file until the test ends.
func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// read infers a schema from a file and reads the same file by it.
func read(t testing.TB, path string, o Options) (*Schema, *Samples, error) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	s, err := Infer(f, o)
	if err != nil {
		return nil, nil, err
	}
	samples, err := s.Read(f, Testing)
	return s, samples, err
}

// One table, in all dialects.
func TestCSVDialects(t *testing.T) {
	const plain = "age,colour,class\n31,red,a\n-2.5e1,green,b\n"
	for name, file := range map[string]struct{ name, text string }{
		"plain":              {"x.csv", plain},
		"no last line feed":  {"x.csv", strings.TrimSuffix(plain, "\n")},
		"byte order mark":    {"x.csv", "\ufeff" + plain},
		"carriage returns":   {"x.csv", strings.ReplaceAll(plain, "\n", "\r\n")},
		"blanks":             {"x.csv", "age , colour, class\n 31 , red,a \n\n-2.5e1,green , b\n"},
		"quotes":             {"x.csv", "\"age\",\"colour\",class\n\"31\",red,\"a\"\n-2.5e1,\"green\",b\n"},
		"semicolons":         {"x.csv", strings.ReplaceAll(plain, ",", ";")},
		"tabs":               {"x.tsv", strings.ReplaceAll(plain, ",", "\t")},
		"compressed":         {"x.csv.gz", gzipped(t, plain)},
		"tabs compressed":    {"X.TSV.GZ", gzipped(t, strings.ReplaceAll(plain, ",", "\t"))},
		"tabs in .csv":       {"x.csv", strings.ReplaceAll(plain, ",", "\t")},
		"Excel's first line": {"x.csv", "\ufeffsep=|\r\n" + strings.ReplaceAll(plain, ",", "|")},
		"comments":           {"x.csv", "# of the year 2024\n#, by us, again, and again\n\n" + plain},
		"rows of nothing":    {"x.csv", plain + ",,\n, ,\n\n"},
		"another order":      {"x.csv", "class,age,colour\na,31,red\nb,-25,green\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Label: "class", Categories: map[string][]string{"colour": {"red", "green"}}}
			_, got, err := read(t, put(t, file.name, file.text), o)
			if err != nil {
				t.Fatal(err)
			}
			want := []float32{31, 1, 0, -25, 0, 1}
			if got.N != 2 || len(got.Values) != len(want) || got.Classes[0] != 0 || got.Classes[1] != 1 {
				t.Fatalf("%+v", got)
			}
			for i := range want {
				if got.Values[i] != want[i] {
					t.Errorf("value %d is %v, want %v", i, got.Values[i], want[i])
				}
			}
		})
	}
}

// A header of data is named as such, one that begins with # is one, and names are equal in all forms of Unicode. What
// is left out at the end is told; a row of nothing that isn't the last stays where it is.
func TestHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"5.1,3,a\n4,2,b\n":             `it has 5.1, 3, a; the first line looks like data; put a line of names above it`,
		"1,0,1\n4,2,2\n":               "columns 1 and 3 have one name; rename one, or leave it out; the first line looks like data",
		"2001,2002,a\n1,2,b\n":         "it has 2001, 2002, a",
		"#x,class\n#1,a\n#2,b\n":       "column #x: not a plain number",
		"#x,class\n1,\"a,c\"\n2,b\n":   "",
		"#x,class\n1,a\n2,b\n":         "",
		"#\n#a\n# x,class\n1,a\n2,b\n": "",
	} {
		if _, _, err := read(t, put(t, "x.csv", text), Options{Label: "class"}); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"gr\u00fcn", "gru\u0308n"} {
		s := &Schema{Label: Label{Name: "class", Task: Classification, Classes: []string{"a", "b"}}, Columns: []Column{{Name: name, Missing: &Missing{Fill: 9}}}, Shape: []int{1}}
		f := open(t, put(t, "x.csv", "class,gru\u0308n\n,1\n,\n,3\n,\n,\n"))
		if got, err := s.Read(f, Predicting); err != nil || fmt.Sprint(got.Values) != "[1 9 3]" || fmt.Sprint(f.Notes()) != "[blank rows at the end of x.csv are left out]" {
			t.Errorf("%+v, %v, %q", got, err, f.Notes())
		}
		if _, err := Infer(f, Options{Label: "class", Ignore: []string{name}}); err == nil || !strings.Contains(err.Error(), "no label") && !strings.Contains(err.Error(), "no column is left") {
			t.Errorf("%q: %v", name, err)
		}
	}
	one := &Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{{Name: "x"}}, Shape: []int{1}}
	f := open(t, put(t, "x.csv", "x\n1\n2\n\n"))
	if got, err := one.Read(f, Predicting); err != nil || got.N != 2 || len(f.Notes()) != 1 {
		t.Errorf("%+v, %v, %q", got, err, f.Notes())
	}
}

// Errors name line and column.
func TestWrongCSV(t *testing.T) {
	options := Options{Label: "y", Categories: map[string][]string{"c": {"red", "green"}}, Classes: []string{"a", "b"}}
	const header = "x,c,y\n1,red,a\n"
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct{ text, want, private string }{
		"empty":             {"", "empty", ""},
		"no header":         {"\n\n", "no header line", ""},
		"a mark alone":      {"\ufeff", "no header line", ""},
		"no rows":           {"x,c,y\n", "no rows", ""},
		"no name":           {"x,,y\n", "column 2 has no name in the header; give it one, or leave the column out", ""},
		"a name twice":      {"x,y, x\n", `columns 1 and 3 have one name; rename one, or leave it out; they are called "x"`, ``},
		"too few cells":     {header + "1,red\n", "line 3: 2 cells, and the header has 3 cells", ""},
		"too many cells":    {header + "\n1,red,a,\n", "line 4: 4 cells, and the header has 3 cells", ""},
		"a quote too many":  {header + "1,re\"d,a\n", "line 3: a quote in a cell without quotes at byte 5 of line 3; put the cell into quotes and write the quote twice", ""},
		"an open quote":     {header + "1,\"red,a\n", "line 3: a quote is missing or too many, which shows at byte 10 of line 3; a quote within a quoted cell is written twice", ""},
		"Latin 1":           {header + "1,gr\xfcn,a\n", "line 3: cell 2 isn't UTF-8, or has a zero byte; save the file as UTF-8", ""},
		"a zero byte":       {header + "1,r\x00,a\n", "line 3: cell 2 isn't UTF-8, or has a zero byte; save the file as UTF-8", ""},
		"a quote far above": {header + "1,\"red,a\n1,red,a\n", "line 3: a quote is missing or too many, which shows at byte 9 of line 4; a quote within a quoted cell is written twice", ""},
		"below comments":    {"sep=,\n# of 2024\n" + header + "1,red,a,\n", "line 5: 4 cells, and the header has 3 cells", ""},
		"no number":         {header + "one,red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "one"`},
		"a decimal comma":   {header + "\"1,5\",red,a\n", `line 3, column x: not a plain number; say how the file writes numbers by --written x=EXAMPLE, such as 1,5 or $1.5; if the column holds categories, list them by --categories x=a,b,c`, `the cell is "1,5"`},
		"a date":            {header + "31.12.2024,red,a\n", "line 3, column x: a date or time; have it read as days since 1970-01-01 by --written x=date, if it is written as 2024-12-31, or ignore the column by --ignore x", `the cell is "31.12.2024"`},
		"a boolean":         {header + "True,red,a\n", "line 3, column x: true or false, and no number; list both by --categories x=false,true", `the cell is "True"`},
		"hexadecimal":       {header + "0x1p-2,red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "0x1p-2"`},
		"an empty cell":     {header + " ,red,a\n", "line 3, column x: no value (empty, NaN, NA or the like); give a public constant for missing ones, as in --missing x=NUMBER, or leave the row out", ""},
		"NaN":               {header + "NaN,red,a\n", `line 3, column x: no value (empty, NaN, NA or the like); give a public constant for missing ones, as in --missing x=NUMBER, or leave the row out`, `the cell is "NaN"`},
		"infinite":          {header + "-inf,red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "-inf"`},
		"beyond double":     {header + "1e999,red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "1e999"`},
		"beyond single":     {header + "-1e39,red,a\n", `line 3, column x: too large for single precision; clip or scale it, as in --clip x=0,1000`, `the cell is "-1e39"`},
		"a category":        {header + "1,blue,a\n", `line 3, column c: none of the categories: red, green; list "*" for all others, or this one if it is publicly known`, `the cell is "blue"`},
		"no category":       {header + "1,,a\n", `line 3, column c: no category; fill it in, or list "" among the categories for those that are missing`, ""},
		"a class":           {header + "1,red,c\n", `line 3, column y: its class isn't among a, b; list all classes by --classes a,b,c if they are public, or give --task regression for amounts`, `the cell is "c"`},
		"no class":          {header + "1,red,\n", "line 3, column y: no label (empty, NaN, NA or the like); leave the row out", ""},
		"a long cell":       {header + long + ",red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "` + long[:40] + `…"`},
		"a quoted new line": {header + "\"1\n2\",red,a\n", `line 3, column x: not a number; if the column holds categories, list them by --categories x=a,b,c; "dptrain data describe" does, from public rows`, `the cell is "1\n2"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, "x.csv", c.text)
			_, _, err := read(t, path, options)
			if err == nil {
				t.Fatal("it was read")
			}
			if got := strings.TrimPrefix(strings.TrimPrefix(err.Error(), path+": "), path+": "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if told := new(Error); !errors.As(err, &told) || told.Private != c.private {
				t.Errorf("private: got  %s\nwant %s", told.Private, c.private)
			}
		})
	}
}

func TestWrongFiles(t *testing.T) {
	o := Options{Label: "y"}
	for name, c := range map[string]struct{ path, want string }{
		"missing":       {filepath.Join(t.TempDir(), "x.csv"), "no such file"},
		"format":        {put(t, "x.xlsx", "x"), "its name says no format; the formats are .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npz; save the sheet as CSV UTF-8"},
		"packed":        {put(t, "x.csv.zip", "x"), ".npz; unpack it"},
		"a sheet":       {put(t, "x.csv", "PK\x03\x04x,y\n"), "no CSV but a zip archive, as Excel's sheets are too; unpack it, or save the sheet as CSV UTF-8"},
		"parquet":       {put(t, "x.csv", "PAR1x,y\n"), "let its name end in .parquet"},
		"UTF-16":        {put(t, "x.csv", "x\x00,\x00y\x00\n\x00"), "not UTF-8, but seemingly UTF-16; save it as UTF-8"},
		"Macintosh":     {put(t, "x.csv", "x,y\r1,a\r2,b\r"), "its lines end in carriage returns alone"},
		"not packed":    {put(t, "x.csv.gz", "x,y\n1,2\n3,4\n5,6\n"), "it is damaged: gzip: invalid header"},
		"cut short":     {put(t, "x.csv.gz", gzipped(t, "x,y\n"+strings.Repeat("1,2\n", 1000))[:40]), "the file is cut short"},
		"not parquet":   {put(t, "x.parquet", "x,y\n1,2\n3,4\n5,6\n"), "damaged or cut short"},
		"short parquet": {put(t, "x.parquet", "PAR1"), "damaged or cut short"},
		"not npz":       {put(t, "x.npz", "x,y\n"), "not an NPZ archive"},
	} {
		if _, _, err := read(t, c.path, o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	device := filepath.Join(t.TempDir(), "x.csv")
	if err := os.Symlink(os.DevNull, device); err == nil {
		if _, _, err := read(t, device, o); err == nil || !strings.Contains(err.Error(), "not a regular file; save the rows to one") {
			t.Errorf("a device: %v", err)
		}
	}
	dir := filepath.Join(t.TempDir(), "x.csv")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, dir, o); err == nil || !strings.Contains(err.Error(), "a folder, not a file") {
		t.Errorf("a folder: %v", err)
	}
}

// endless is a line without an end, as a small compressed file may hold.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	for _, start := range []string{"", "\"", "x\n\""} {
		rest := &endless{}
		r, err := openCSV(multi(start, rest), ',', false)
		if err == nil {
			_, err = r.next()
		}
		if err == nil || !strings.Contains(err.Error(), "a row of more than 64 MB; is a quote not closed?") {
			t.Errorf("%q: %v", start, err)
		}
		if rest.read > 2*maxRecord {
			t.Errorf("%q: %d bytes were read", start, rest.read)
		}
	}
}

func multi(start string, rest *endless) *joined { return &joined{strings.NewReader(start), rest} }

// joined is io.MultiReader for a reader that never ends.
type joined struct {
	start *strings.Reader
	rest  *endless
}

func (j *joined) Read(p []byte) (int, error) {
	if j.start.Len() > 0 {
		return j.start.Read(p)
	}
	return j.rest.Read(p)
}

// Count counts the rows that Read reads, for any cells.
func TestCount(t *testing.T) {
	s, err := Infer(open(t, put(t, "x.csv", "x,y\n1,a\n2,b\n")), Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Count(open(t, put(t, "y.csv", "y,x\nq,\"1\n2\"\n\n,\nc,d")))
	if err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, header := range []string{"x", "y"} { // Count needs the columns that Read needs
		if _, err := s.Count(open(t, put(t, "y.csv", header+"\n1\n"))); err == nil || !strings.Contains(err.Error(), "no column") {
			t.Errorf("%s alone: %v", header, err)
		}
	}
}

// One error names all columns that have cells which can't be read, of public and private files, and quotes one cell.
func TestErrorsNameAllColumns(t *testing.T) {
	header := []string{"y", "a", "c"}
	schema := &Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{{Name: "a"}, {Name: "c", Categories: []string{"red"}}}}
	cells := []string{"NA", "", "blue"}
	for i := range 30 {
		name := fmt.Sprintf("t[%d]", i)
		header, cells = append(header, name), append(cells, secret)
		schema.Columns = append(schema.Columns, Column{Name: name})
	}
	schema.Shape = []int{32}
	path := put(t, "x.csv", strings.Join(header, ",")+"\n1,2,red"+strings.Repeat(",3", 30)+"\n"+strings.Join(cells, ",")+"\n")
	_, err := schema.Read(open(t, path), Training)
	want := path + ": line 3, column a: no value (empty, NaN, NA or the like); in c: none of the categories; in t[0], t[1], t[2], "
	for _, part := range []string{want, "t[19] and 10 more: not a number; in y: no label", "; give a public constant", "; if the column holds categories, list them by --categories 't[0]'=a,b,c; "} {
		if err == nil || !strings.Contains(err.Error(), part) || leaks(err.Error()) {
			t.Errorf("%v, want %s", err, part)
		}
	}
	schema.Settle() // a released model's advises no settings
	_, err = schema.Read(open(t, path), Testing)
	if err == nil || strings.Contains(err.Error(), "--") || !strings.HasSuffix(err.Error(), "in y: no label (empty, NaN, NA or the like); mend the cells, or leave such rows out") {
		t.Error(err)
	}
	schema.Columns[0].Missing, schema.Columns[1].Categories = &Missing{}, []string{"blue"}
	if _, err := schema.ReadPublic(open(t, path)); err == nil || !strings.Contains(err.Error(), "column c: none of the categories: blue; in t[0], t[1]") || !strings.Contains(err.Error(), "the cell is") {
		t.Errorf("a public file: %v", err)
	}
	_, err = schema.Read(open(t, put(t, "x.csv", "c,t[1],z\n")), Predicting)
	if err == nil || !strings.Contains(err.Error(), `no column "a", "t[0]", "t[2]", `) || strings.Contains(err.Error(), `"y"`) {
		t.Errorf("a file without columns: %v", err)
	}
}

// A file that is read on has the rows that can be read, and the errors of the others.
func TestKeepGoing(t *testing.T) {
	schema := &Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{{Name: "a", Missing: &Missing{Fill: 9}}, {Name: "b"}}, Shape: []int{2}}
	f := open(t, put(t, "x.csv", "id,a,b\np,1\nq,2,\nr,\xff,4\ns,,5\nt,6,7\nu\n"))
	f.KeepGoing()
	got, err := schema.Read(f, Predicting)
	if err != nil || got.N != 2 || !slices.Equal(got.Values, []float32{9, 5, 6, 7}) || len(got.Bad) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	for row, want := range map[int]string{0: "line 2: 2 cells, ", 1: "line 3, column b: no value", 2: "line 4: cell 2 isn't UTF-8", 5: "line 7: 1 cell, "} {
		if e := got.Bad[row]; e == nil || !strings.Contains(e.Error(), want) {
			t.Errorf("row %d: %v, want %s", row, e, want)
		}
	}
	if ids, err := f.Cells("id"); err != nil || strings.Join(ids, " ") != " q  s t " {
		t.Errorf("%q, %v", ids, err)
	}
	f = open(t, put(t, "x.csv", "b,a\n1,2,3\n4\n5,\n"))
	f.KeepGoing()
	if got, err := schema.Read(f, Predicting); err != nil || got.N != 1 || len(got.Bad) != 2 || f.Close() != nil {
		t.Errorf("%+v, %v", got, err)
	}
	one := &Schema{Label: schema.Label, Columns: []Column{{Name: "b"}}, Shape: []int{1}}
	f = open(t, put(t, "x.csv", "b\n1\n2,3\n4\n"))
	f.KeepGoing()
	if got, err := one.Read(f, Predicting); err != nil || !slices.Equal(got.Values, []float32{1, 4}) {
		t.Errorf("a file of one column: %+v, %v", got, err)
	}
}
