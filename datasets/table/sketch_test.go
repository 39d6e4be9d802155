package table

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/sketch"
)

func sketchOf(t testing.TB, name, contents string) sketch.Sketch {
	t.Helper()
	s, err := open(t, put(t, name, contents)).Sketch()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// One table in every format, order and notation has one sketch.
func TestSketchIsOfTheContent(t *testing.T) {
	want := sketchOf(t, "a.csv", "age,job,x,y\n39,État,0.1,\n-2,b,0,1\n")
	type row struct {
		Y   *float64 `parquet:"y,optional"`
		X   float32  `parquet:"x"`
		Age int64    `parquet:"age"`
		Job string   `parquet:"job,dict"`
	}
	for name, contents := range map[string]string{
		"rows.csv":      "age,job,x,y\n-2,b,0,1\n39,État,0.1,\n",
		"columns.csv":   "y,x,job,age\n,0.1,État,39\n1,0,b,-2\n",
		"notation.csv":  "\ufeffage; job;x;y\r\n+39.0;\" État \";1e-1;NaN\r\n-2e0;b;-0;true\r\n",
		"single.csv":    "age,job,x,y\n39,État,0.10000000149011612,nan\n-2,b,0.000,01\n",
		"tabs.tsv":      "age\tjob\tx\ty\n39\tÉtat\t.1\t\n-2\tb\t0\tTrue\n",
		"packed.csv.gz": gzipped(t, "age,job,x,y\n39,État,0.1,\n-2,b,0,1\n"),
		"rows.parquet":  parquetFile(t, 1, row{nil, 0.1, 39, "État"}, row{new(1.), 0, -2, "b"}),
		"nan.parquet":   parquetFile(t, 2, row{new(1.), 0, -2, "b"}, row{new(math.NaN()), 0.1, 39, "État"}),
		"arrays.npz": npz(t, zip.Deflate, map[string]string{
			"age": npy(1, head("|i1", "False", "(2,)"), []int8{39, -2}),
			"job": npy(1, head("<U4", "False", "(2, 1)"), []int32{'É', 't', 'a', 't', 'b', 0, 0, 0}),
			"x":   npy(1, head(">f8", "False", "(2,)"), []uint64{swapped(0.1), swapped(0)}),
			"y":   npy(1, head("<f4", "True", "(2,)"), []float32{float32(math.NaN()), 1}),
		}),
	} {
		if got := sketchOf(t, name, contents); !got.Equal(want) {
			t.Errorf("%s: another sketch", name)
		}
	}
	for name, contents := range map[string]string{
		"cell.csv":    "age,job,x,y\n39,État,0.1,\n-2,b,0,2\n",
		"case.csv":    "age,job,x,y\n39,état,0.1,\n-2,B,0,1\n",
		"name.csv":    "Age,job,x,y\n39,État,0.1,\n-2,b,0,1\n",
		"swap.csv":    "job,age,x,y\n39,État,0.1,\n-2,b,0,1\n",
		"missing.csv": "age,job,x,y\n39,État,0.1,0\n-2,b,0,1\n",
		"twice.csv":   "age,job,x,y\n39,État,0.1,\n39,État,0.1,\n-2,b,0,1\n",
		"column.csv":  "age,job,x\n39,État,0.1\n-2,b,0\n",
	} {
		if got := sketchOf(t, name, contents); got.Equal(want) {
			t.Errorf("%s: the same sketch", name)
		}
	}
}

// swapped returns the bits of v with bytes reversed: their little-endian bytes are v's big-endian ones.
func swapped(v float64) uint64 {
	u, out := math.Float64bits(v), uint64(0)
	for range 8 {
		out, u = out<<8|u&0xff, u>>8
	}
	return out
}

// The hashes of rows never change, since ledgers keep them. An implementation in Python, made from the doc comments
// alone, computed these: SplitMix64 of the sum over cells of SplitMix64(SplitMix64(SplitMix64(FNV-1a(column)) +
// position) xor SplitMix64(value)), where a value is FNV-1a of a text or the bits of a number.
func TestSketchForm(t *testing.T) {
	for _, c := range []struct {
		name, contents, want string
	}{
		{"a.csv", "age,job,x,y\n39,État,0.1,\n", hashesJSON(0x1e53119d0939e3e)},
		{"b.csv", "age,job,x,y\n-2,b,0,1\n", hashesJSON(0x19b11375663cfe27)},
		{"c.npz", npz(t, zip.Store, map[string]string{"image": npy(1, head("|u1", "False", "(1, 2)"), []uint8{1, 2})}), hashesJSON(0x4c1801cb57012fe9)},
	} {
		var want sketch.Sketch
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if got := sketchOf(t, c.name, c.contents); !got.Equal(want) {
			text, _ := json.Marshal(got)
			t.Errorf("%s: %s, want %s", c.contents, text, c.want)
		}
	}
}

func hashesJSON(h uint64) string {
	var bytes [8]byte
	for i := range bytes {
		bytes[i] = byte(h >> (8 * i))
	}
	text, _ := json.Marshal(bytes[:])
	return fmt.Sprintf(`{"form":1,"rows":1,"hashes":%s}`, text)
}

// Share counts the rows that were not added, removed or changed. The rows are fewer than a sketch keeps, so shares are
// exact.
func TestSketchRecognisesChangedFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "rows")
		kept := rapid.IntRange(0, n).Draw(t, "kept")
		added := rapid.IntRange(0, 200).Draw(t, "added")
		if kept+added == 0 {
			return
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		row := func(i int) string { return fmt.Sprintf("%d,%v,%d", i, float64(i)/3, i%5) }
		var before, after []string
		for i := range n {
			before = append(before, row(i))
		}
		after = append(after, before[:kept]...)
		for i := range added {
			after = append(after, row(n+i))
		}
		r.Shuffle(len(after), func(i, j int) { after[i], after[j] = after[j], after[i] })
		of := func(rows []string) sketch.Sketch {
			var s sketch.Sketch
			err := csvPass("a,b,c\n"+strings.Join(rows, "\n"), &s)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := float64(kept) / float64(min(n, len(after)))
		if got := of(before).Share(of(after)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("share %v, want %v", got, want)
		}
	})
}

// csvPass sketches a text as a CSV file.
func csvPass(text string, s *sketch.Sketch) error {
	r, err := openCSV(strings.NewReader(text), ',', false)
	if err != nil {
		return err
	}
	var b sketch.Builder
	h := newRowHash(r.fields())
	err = each(r, "", func(row []cell) error { b.Add(h.of(row)); return nil })
	*s = b.Sketch()
	return err
}

// A sketch leaves out columns whose type can't be read, and accepts values that no schema accepts.
func TestSketchOfOddColumns(t *testing.T) {
	type nested struct {
		X    float64   `parquet:"x"`
		Y    int32     `parquet:"y"`
		List []float64 `parquet:"list"`
	}
	lists := sketchOf(t, "lists.parquet", parquetFile(t, 2, nested{1, 0, []float64{1}}, nested{2, 1, nil}))
	if plain := sketchOf(t, "plain.csv", "x,y\n1,0\n2,1\n"); !lists.Equal(plain) {
		t.Error("another sketch than that of the readable columns")
	}
	if s := sketchOf(t, "nan.csv", "x,y,z\n1,0,nan\n2,1,\n3,0,inf\n4,1,-Infinity\n"); s.Rows() != 4 {
		t.Errorf("%d rows, want 4", s.Rows())
	}
}

// Rows are recognised whatever columns came or went, and with rounded amounts. Other rows of the same kind aren't.
func TestSketchesThatAreAlike(t *testing.T) {
	// table writes n rows from first on with columns of row numbers, ages, incomes, rates, sexes and labels.
	type row []string
	table := func(first, n int, change func(row) row) string {
		text := strings.Join(change(row{"", "age", "income", "rate", "sex", "y"}), ",") + "\n"
		for i := first; i < first+n; i++ {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			text += strings.Join(change(row{
				fmt.Sprint(i), fmt.Sprint(18 + r.IntN(70)), fmt.Sprintf("%.3f", 5000*r.ExpFloat64()), fmt.Sprintf("%.4f", 100*r.Float64()),
				[]string{"f", "m"}[r.IntN(2)], []string{"no", "yes"}[r.IntN(2)],
			}), ",") + "\n"
		}
		return text
	}
	rounded := func(digits int) func(row) row {
		return func(r row) row {
			for i, text := range r {
				if v, err := strconv.ParseFloat(text, 64); err == nil {
					r[i] = strconv.FormatFloat(v, 'f', digits, 64)
				}
			}
			return r[1:]
		}
	}
	plain := func(r row) row { return r[1:] }
	renamed := func(r row) row {
		if r[0] == "" {
			return row{"a", "b", "c", "d", "e"}
		}
		return r[1:]
	}
	few := func(r row) row { return r[4:] }
	commas := func(r row) row { // and a semicolon between cells
		for i, text := range r {
			r[i] = strings.ReplaceAll(text, ".", `,`)
		}
		return row{strings.Join(r[2:4], ";")}
	}
	images := func(kind int, label uint8) string {
		pixels, labels := make([]uint8, 64*100), make([]uint8, 64)
		for i := range pixels {
			pixels[i] = uint8(textHash(fmt.Sprint(kind, i)))
			labels[i/100] = label
		}
		return npz(t, zip.Store, map[string]string{"x": npy(1, head("|u1", "False", "(64, 10, 10)"), pixels), "y": npy(1, head("|u1", "False", "(64,)"), labels)})
	}
	of := sketchOf(t, "a.csv", table(0, 400, plain))
	for name, c := range map[string]struct {
		a, b sketch.Sketch
		want bool
	}{
		"an index":                         {of, sketchOf(t, "b.csv", table(0, 400, func(r row) row { return r })), true},
		"all names":                        {of, sketchOf(t, "b.csv", table(0, 400, renamed)), true},
		"two columns":                      {of, sketchOf(t, "b.csv", table(0, 400, func(r row) row { return r[2:4] })), true},
		"recoded labels":                   {of, sketchOf(t, "b.csv", table(0, 400, func(r row) row { return append(r[1:5:5], r[5]+"!") })), true},
		"two decimals":                     {of, sketchOf(t, "b.csv", table(0, 400, rounded(2))), true},
		"one decimal":                      {of, sketchOf(t, "b.csv", table(0, 400, rounded(1))), true},
		"whole numbers":                    {of, sketchOf(t, "b.csv", table(0, 400, rounded(0))), true},
		"decimal commas":                   {of, sketchOf(t, "b.csv", table(0, 400, commas)), true},
		"a part of the rows, and an index": {of, sketchOf(t, "b.csv", table(100, 250, func(r row) row { return r })), true},
		"half of the rows, renamed":        {of, sketchOf(t, "b.csv", table(200, 400, renamed)), true},
		"few columns of the same rows":     {sketchOf(t, "a.csv", table(0, 400, few)), sketchOf(t, "b.csv", table(0, 400, func(r row) row { return row{r[4]} })), false},
		"other rows":                       {of, sketchOf(t, "b.csv", table(400, 400, plain)), false},
		"few other rows":                   {of, sketchOf(t, "b.csv", table(400, 50, plain)), false},
		"other rows of few columns":        {sketchOf(t, "a.csv", table(0, 400, few)), sketchOf(t, "b.csv", table(400, 400, few)), false},
		"other rows with the same numbers": {
			sketchOf(t, "a.csv", table(0, 400, func(r row) row { return append(r[:1:1], r[4:]...) })),
			sketchOf(t, "b.csv", "id,s,y\n"+strings.Join(strings.SplitAfter(table(0, 400, func(r row) row { return append(r[:1:1], r[5], r[4]) }), "\n")[1:], "")), false,
		},
		"other images":             {sketchOf(t, "a.npz", images(1, 0)), sketchOf(t, "b.npz", images(2, 0)), false},
		"images with other labels": {sketchOf(t, "a.npz", images(1, 0)), sketchOf(t, "b.npz", images(1, 1)), true},
	} {
		if got := c.a.Alike(c.b); got != c.want || c.b.Alike(c.a) != got || c.a.Share(c.b) >= 0.025 && c.want {
			t.Errorf("%s: alike %v, want %v; they share %v", name, got, c.want, c.a.Share(c.b))
		}
	}
}

// Errors are Read's errors without the column's name: no schema says which names are public.
func TestSketchErrors(t *testing.T) {
	for name, contents := range map[string]string{
		"header.csv":   secret + ",b\n",
		"short.csv":    secret + ",b\n1\n",
		"quote.csv":    secret + ",b\n\"1,2\n",
		"twice.csv":    secret + "," + secret + "\n1,2\n",
		"text.parquet": "not parquet",
		"later.npz":    npz(t, zip.Store, map[string]string{"a": npy(1, head("<f4", "False", "(1,)"), []float32{1}), secret: npy(1, head("<f4", "False", "(1,)"), []float32{1, 2})}),
		"cut.npz":      npz(t, zip.Store, map[string]string{secret: npy(1, head("<f4", "False", "(4,)"), []float32{1, 2})}),
		"objects.npz":  npz(t, zip.Store, map[string]string{secret: npy(1, head("|O", "False", "(4,)"), []uint8{1})}),
		"no-rows.npz":  npz(t, zip.Store, map[string]string{secret: npy(1, head("<f4", "False", "(0,)"), []float32{})}),
		"lists.parquet": parquetFile(t, 2, struct {
			L []float64 `parquet:"5EcR3t"`
		}{[]float64{1}}),
		"no-rows.parquet": parquetFile[columns](t, 1),
	} {
		_, err := open(t, put(t, name, contents)).Sketch()
		var e *Error
		if !errors.As(err, &e) || leaks(err.Error()) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an *Error that names the file and nothing of its content", name, err)
		}
	}
	if _, err := (*File)(nil).Sketch(); err == nil {
		t.Error("no file has a sketch")
	}
}

func TestSketchOfAChangedFile(t *testing.T) {
	path := put(t, "x.csv", "a,b\n1,2\n")
	f := open(t, path)
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sketch(); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v, want that it has changed", err)
	}
}
