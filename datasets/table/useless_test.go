package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The description says for each column whether a model should learn from it.
func TestUselessColumns(t *testing.T) {
	const rows = 40
	for name, c := range map[string]struct {
		cell func(i int) string
		want string // the beginning of the reason, or nothing
	}{
		"from 1":              {func(i int) string { return fmt.Sprint(i + 1) }, "row numbers, from 1 on"},
		"from 0":              {func(i int) string { return fmt.Sprint(i) }, "row numbers, from 0 on"},
		"from 500":            {func(i int) string { return fmt.Sprint(500 + i) }, "row numbers, from 500 on"},
		"growing":             {func(i int) string { return fmt.Sprint(i * i) }, "whole numbers that only grow"},
		"growing with a gap":  {func(i int) string { return map[bool]string{true: "", false: fmt.Sprint(i * i)}[i == 7] }, ""},
		"numbers":             {func(i int) string { return fmt.Sprint(i * 7 % 11) }, ""},
		"fractions that grow": {func(i int) string { return fmt.Sprint(float64(i) + 0.5) }, ""},
		"patient_id":          {func(i int) string { return fmt.Sprint(1000 + i*7%41) }, "ids: 40 different numbers in 40 rows"},
		"salary":              {func(i int) string { return fmt.Sprint(30123 + i*i*7919%61001) }, ""},
		"shuffled":            {func(i int) string { return fmt.Sprint(1000 + i*7%41) }, "ids: 40 different numbers"},
		"shuffled, two equal": {func(i int) string { return fmt.Sprint(1000 + min(i, 38)*7%41) }, "ids: 39 different numbers"},
		"few equal":           {func(i int) string { return fmt.Sprint(1000 + min(i, 36)*7%41) }, ""},
		"mobile":              {func(i int) string { return fmt.Sprint(15112345678 + i*i*7919%61001*13) }, "ids: 40 different numbers"},
		"barcode":             {func(i int) string { return fmt.Sprint(40123456789012 + i*i*7919%61001*1999993) }, "ids: 40 different numbers"},
		"market caps":         {func(i int) string { return fmt.Sprint(i*i*i*i*7919%61001*19999+123456789) + strings.Repeat("7", i%4) }, ""},
		"padded":              {func(i int) string { return fmt.Sprintf("%03d", i*7%40) }, `ids or names: 40 different values in 40 rows, such as "000"`},
		"padded groups":       {func(i int) string { return fmt.Sprintf("%02d", 1+i%12) }, ""},
		"units":               {func(i int) string { return fmt.Sprintf("%d.5 mmHg", 100+i) }, ""},
		"two units":           {func(i int) string { return fmt.Sprintf("%d.5 %s", 100+i, []string{"mmHg", "kPa"}[i%2]) }, `amounts written as "100.5 mmHg"; `},
		"ISO dates":           {func(i int) string { return fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28) }, "dates or times, such as 2024-01-01"},
		"American dates":      {func(i int) string { return fmt.Sprintf("%d/%d/2024", 1+i%12, 1+i%28) }, "dates or times"},
		"German dates":        {func(i int) string { return fmt.Sprintf("%d.%d.2024", 1+i%28, 1+i%12) }, "dates or times"},
		"whole dates":         {func(i int) string { return fmt.Sprintf("2024%02d%02d", 1+i%12, 1+i%28) }, "dates or times"},
		"no dates":            {func(i int) string { return fmt.Sprintf("2024%02d%02d", 1+i%13, 1+i%28) }, ""},
		"moments":             {func(i int) string { return fmt.Sprintf("2024-01-02T%02d:00:00Z", i%24) }, "dates or times"},
		"seasons":             {func(i int) string { return fmt.Sprintf("20%d-%d", 10+i%9, 11+i%9) }, ""},
		"codes":               {func(i int) string { return fmt.Sprintf("40%d-%d", 10+i%9, 1+i%9) }, ""},
		"versions":            {func(i int) string { return fmt.Sprintf("10.%d.%d", i%3, 10+i%5) }, ""},
		"short dates":         {func(i int) string { return fmt.Sprintf("%d/%d/24", 1+i%12, 1+i%28) }, "dates or times"},
		"dates with gaps": {func(i int) string {
			return map[bool]string{true: "NA", false: "2024-01-" + fmt.Sprint(10+i%15)}[i%5 == 0]
		}, "dates or times"},
		"texts with one date":   {func(i int) string { return []string{"2024-01-02", "soon"}[i%2] }, ""},
		"ids":                   {func(i int) string { return fmt.Sprintf("k%d", i) }, `ids or names: 40 different values in 40 rows, such as "k0"`},
		"ids, a few equal":      {func(i int) string { return fmt.Sprintf("k%d", min(i, 36)) }, "ids or names: 37 different values in 40 rows"},
		"categories":            {func(i int) string { return fmt.Sprintf("k%d", min(i, 34)) }, ""},
		"long texts":            {func(i int) string { return strings.Repeat("a word ", 9) + fmt.Sprint(i) }, "texts: 40 different values"},
		"a constant":            {func(int) string { return "5" }, "always the same: 5"},
		"a constant text":       {func(int) string { return "yes" }, "always the same: yes"},
		"a constant with a gap": {func(i int) string { return map[bool]string{true: "", false: "5"}[i == 3] }, ""},
		"nothing":               {func(i int) string { return []string{"", "NA", "?"}[i%3] }, "every value is missing"},
		"currency":              {func(i int) string { return fmt.Sprintf("$%d.50", i) }, ""},
		"decimal commas":        {func(i int) string { return fmt.Sprintf("\"%d,5\"", i) }, `amounts written as "0,5"; say how by --written 'decimal commas'=EXAMPLE`},
		"21 amounts":            {func(i int) string { return fmt.Sprintf("\"%d,5\"", i%21) }, `amounts written as "0,5"`},
		"20 doses":              {func(i int) string { return fmt.Sprintf("\"%d,5\"", i%20) }, ""},
		"thousands": {func(i int) string {
			return map[bool]string{true: fmt.Sprintf("\"1,%03d\"", i), false: fmt.Sprint(i)}[i%3 == 0]
		}, `numbers with more than 10 different texts among them, such as "1,000"`},
		"many words": {func(i int) string {
			return map[bool]string{true: fmt.Sprintf("about %d", i), false: fmt.Sprint(i * 3)}[i%3 == 0]
		}, "numbers with more than 10 different texts"},
		"a few percent": {func(i int) string { return []string{"5%", "10%"}[i%2] }, ""},
	} {
		var text strings.Builder
		text.WriteString(name + ",z\n")
		if strings.Contains(name, ",") {
			text.Reset()
			text.WriteString("\"" + name + "\",z\n")
		}
		for i := range rows {
			text.WriteString(c.cell(i) + ",1\n")
		}
		d, err := open(t, put(t, "x.csv", text.String())).Describe(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Columns[0].Useless; c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Numbers of 7 digits that are all different may be ids or amounts: a person decides.
func TestLongIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{150, 300} {
		text := "x,z\n"
		for range rows {
			text += fmt.Sprint(1e6+r.IntN(9e6)) + ",1\n"
		}
		d, err := open(t, put(t, "x.csv", text)).Describe(Options{})
		if got := d.Columns[0]; err != nil || got.Useless != "" || !got.MayBeID {
			t.Errorf("%d rows: %+v, %v", rows, got, err)
		}
	}
}

func TestManyTexts(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,z\n")
	for i := range 400 {
		fmt.Fprintf(&text, "k%d,1\n", i%200)
	}
	d, err := open(t, put(t, "x.csv", text.String())).Describe(Options{})
	if want := `more than 100 different texts, such as "k0"; group them`; err != nil || !strings.HasPrefix(d.Columns[0].Useless, want) {
		t.Errorf("%q, %v", d.Columns[0].Useless, err)
	}
}

// Row numbers and names in a first column without a name are left out of public and private files alike.
func TestUnnamedColumn(t *testing.T) {
	o := Options{Label: "y", Task: Classification}
	for text, want := range map[string]string{
		",x,y\n1,5,a\n2,6,b\n":        "",
		"\"\",x,y\n17,5,a\n4,6,b\n":   "", // a part of a shuffled table
		",x,y\nMazda,5,a\nFiat,6,b\n": "",
		",x,y\n1.5,5,a\n2,6,b\n":      "line 2: column 1 has no name in the header, and its values are no row numbers",
		",x,y\n1,5,a\n1.0,6,b\n":      "line 3: column 1 has no name",
		",x,y\n1,5,a\n,6,b\n":         "line 3: column 1 has no name",
		"x,,y\n1,5,a\n2,6,b\n":        "column 2 has no name in the header",
		"\"\"\n1\n":                   "column 1 has no name in the header",
		"\ufeff,x,y\n1,5,a\n2,6,b\n":  "",
		";x;y\n1;5;a\n2;6;b\n":        "",
		" ,x,y\n0,5,a\n1,6,b\n":       "",
		",x,,y\n1,5,5,a\n2,6,5,b\n":   "column 3 has no name",
		",x,y\nNA,5,a\n2,6,b\n":       "line 2: column 1 has no name",
	} {
		file := open(t, put(t, "x.csv", text))
		s, err := Infer(file, o)
		if _, described := file.Describe(Options{}); (described == nil) != (err == nil) {
			t.Errorf("%q: inferred with %v, described with %v", text, err, described)
		}
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if len(s.Columns) != 1 || s.Columns[0].Name != "x" || !file.unnamed() {
			t.Errorf("%q: %+v", text, s)
		}
	}
	s, err := Infer(open(t, put(t, "x.csv", "x,y\n5,a\n6,b\n")), o)
	if err != nil {
		t.Fatal(err)
	}
	private := open(t, put(t, "x.csv", ",x,y\nsomebody,5,a\nsomebody,6,b\n"))
	for _, use := range []Use{Training, Testing, Predicting} {
		if got, err := s.Read(private, use); err != nil || got.N != 2 || got.Values[1] != 6 || !private.unnamed() {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := private.Sketch(); err != nil {
		t.Errorf("a sketch: %v", err)
	}
	if private := open(t, put(t, "x.csv", "x,y\n5,a\n")); private.unnamed() {
		t.Error("it wasn't read")
	}
	d, err := open(t, put(t, "x.csv", ",x,y\n1,5,a\n2,6,b\n")).Describe(Options{})
	if err != nil || len(d.Columns) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

// Numbers that mark missing ones are found, and outliers and tails aren't.
func TestSentinels(t *testing.T) {
	for values, want := range map[string]string{
		"3 -999 4 10 -999 7":                   "[-999]",
		"3 -999 4 10 7":                        "[]", // once may be an outlier
		"30 99 20 99 31 35":                    "[99]",
		"30 98 20 98 31 35":                    "[98]",
		"30 96 20 96 31 35":                    "[96]",
		"30 95 20 95 31 35":                    "[]",
		"2 4 8 2 4 8 16 16":                    "[]", // sizes, each twice the one before
		"-1 -1 0 1 2 3":                        "[]", // a value like the others
		"0 1 -9 0 1 -9":                        "[-9]",
		"-999 -999 -999":                       "[]",
		"-999 -999 5 5":                        "[]", // two groups
		"99 100 101 99 99":                     "[]",
		"-9 -9 99 99 98 97 96":                 "[-9]",
		"-5 5 0 2 -9999 -9999 9999 9999":       "[-9999 9999]",
		"20 30 25 -999 -999 9999 9999":         "[-999 9999]",
		"20 30 25 77 77 999 999":               "[999 77]",
		"0 0 0 0 1 2 3 500 500":                "[]", // the tail of counts
		"1 2 2 3 3 9 50 200 900 7000 7000":     "[]",
		"0 0 0 0 36 37 38":                     "[]", // mostly 0
		"0 0 0 0 1 2 3 999 999":                "[999]",
		"4 5 5 5 5 -50 -50":                    "[-50]",
		"0 1 0 1 9 9":                          "[]",
		"0 0 60 80 85 90 120 150":              "[]", // of a blood pressure: not far
		"0 0 1990 1950 2005 1970":              "[0]",
		"-4 -3 -1 -1 -1 -1 -30 -30":            "[]",
		strings.Repeat("1 2 3 ", 67) + "99 99": "[]", // two of 203
		strings.Repeat("1 2 3 ", 66) + "99 99": "[99]",
	} {
		d, err := open(t, put(t, "x.csv", "x,z\n"+strings.ReplaceAll(values, " ", ",1\n")+",1\n")).Describe(Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := d.Columns[0]
		if got := fmt.Sprint(c.Sentinels); got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
		m, gaps := c.SuggestedMissing()
		for _, mark := range c.Sentinels {
			if x, _ := parse(mark); x >= c.Low && x <= c.High || !gaps || !m.Indicator || !slices.Contains(m.Words, mark) || c.SentinelRows != 2*len(c.Sentinels) {
				t.Errorf("%s: %+v, suggested %+v", values, c, m)
			}
		}
	}
}

// Excel's mark of a text keeps the zeros of a code, which is none without them.
func TestExcelsCodes(t *testing.T) {
	d, err := open(t, put(t, "x.csv", "code,dose,y\n=\"007\",=\"0.5\",a\n=\"012\",=\"0\",b\n=\"100\",=\"10\",a\n")).Describe(Options{})
	if err != nil || d.Columns[0].Numbers || !d.Columns[1].Numbers || !slices.Equal(d.Columns[0].Categories, []string{`="007"`, `="012"`, `="100"`}) {
		t.Errorf("%+v, %v", d.Columns, err)
	}
}

// Advice can be pasted into a shell.
func TestAdviceIsShellWords(t *testing.T) {
	d, err := open(t, put(t, "x.csv", "the day,it's,y\n2024-01-02,1,a\n2024-01-03,2,b\n2024-02-03,x,b\n")).Describe(Options{})
	if err != nil || !strings.Contains(d.Columns[0].Useless, "by --written 'the day=date' they") {
		t.Errorf("%+v, %v", d.Columns, err)
	}
	_, _, err = read(t, put(t, "x.csv", "it's,y\n1,a\nx,b\n"), Options{Label: "y"})
	if err == nil || !strings.Contains(err.Error(), `--categories 'it'\''s'=a,b,c;`) {
		t.Error(err)
	}
	_, _, err = read(t, put(t, "x.csv", "z,it's\n1,1.5\n1,2 USD\n"), Options{Label: "it's", Task: Regression})
	if err == nil || !strings.Contains(err.Error(), `or say how by --written 'it'\''s'=EXAMPLE`) {
		t.Error(err)
	}
}

func TestDatesOfAnotherForm(t *testing.T) {
	_, _, err := read(t, put(t, "x.csv", "day,y\n02.01.2024,a\n03.01.2024,b\n"), Options{Label: "y", Written: map[string]string{"day": "date"}})
	if err == nil || !strings.Contains(err.Error(), "column day: no date as 2024-12-31; write it so, or ignore the column by --ignore day") {
		t.Error(err)
	}
}
