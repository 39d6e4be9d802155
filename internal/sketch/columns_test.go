package sketch

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// table returns the sketch of a file with a row of values for each of rows.
func table(rows []int, number bool, values ...func(row int) int) Sketch {
	var all Builder
	var c Columns
	for _, row := range rows {
		var of []Value
		for i, f := range values {
			h := rand.New(rand.NewPCG(uint64(i%3), uint64(f(row)))).Uint64()
			of = append(of, Value{[3]uint64{h, h, h}, number})
		}
		all.Add(uint64(row))
		c.Add(of)
	}
	return all.Sketch().With(&c)
}

// Chance alone makes no two sets alike, however many rows have a value, and a part of the rows does.
func TestAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		values float64
		rows   int
	}{{1e15, 60}, {1e15, 3000}, {1000, 400}, {100, 1000}, {120, 20000}} {
		draw := func(row int) int { // some values are frequent
			r := rand.New(rand.NewPCG(7, uint64(row)))
			return int(c.values * math.Sqrt(r.Float64()))
		}
		for range 20 {
			rows := r.Perm(3 * c.rows)
			one, half, other := table(rows[:c.rows], false, draw), table(rows[c.rows/4:c.rows], false, draw), table(rows[c.rows:2*c.rows], false, draw)
			few := table(rows[c.rows:c.rows+c.rows/5], false, draw)
			if one.Alike(other) || other.Alike(one) || one.Alike(few) || few.Alike(one) {
				t.Errorf("%+v: chance makes sets alike", c)
			}
			if !one.Alike(half) || !half.Alike(one) {
				t.Errorf("%+v: three quarters of the rows aren't recognised", c)
			}
		}
	}
}

// A value that became another one in a fifth of the rows, as where missing ones were filled in, doesn't hide the rest.
func TestAlikeButForAValue(t *testing.T) {
	draw := func(fifth int) func(int) int {
		return func(row int) int {
			if r := rand.New(rand.NewPCG(9, uint64(row))); r.IntN(5) > 0 {
				return r.IntN(1000)
			}
			return fifth
		}
	}
	rows := rand.New(rand.NewPCG(5, 6)).Perm(4000)
	if a := table(rows[:2000], false, draw(-1)); !a.Alike(table(rows[:2000], false, draw(500))) || a.Alike(table(rows[2000:], false, draw(-1))) {
		t.Error("filled in and not alike, or other rows and alike")
	}
}

// What every file has says nothing: row numbers, the hours of a record, and any column beside them.
func TestDesigns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	position, hour := func(row int) int { return row % 4800 }, func(row int) int { return row % 48 }
	sex := func(int) int { return r.IntN(2) }
	var first, second []int
	for i := range 4800 {
		first, second = append(first, i), append(second, 4800+i)
	}
	for name, values := range map[string][]func(int) int{"numbers": {position}, "hours": {hour}, "beside others": {position, hour, sex}} {
		if a, b := table(first, true, values...), table(second, true, values...); a.Alike(b) {
			t.Errorf("%s: alike", name)
		}
	}
	if a, b := table(first, false, position), table(second, false, position); !a.Alike(b) { // such as texts
		t.Error("the same texts aren't alike")
	}
}

func TestJSONOfColumns(t *testing.T) {
	var rows []int
	for i := range 1000 {
		rows = append(rows, i)
	}
	same := func(row int) int { return row }
	want := table(rows, false, same, func(row int) int { return row * row % 997 }, func(row int) int { return row * row % 31 * (row % 2) })
	text, err := json.Marshal(want)
	var got Sketch
	if err != nil || json.Unmarshal(text, &got) != nil || !reflect.DeepEqual(got, want) || len(want.columns) < 2 || !got.Equal(table(rows, true)) {
		t.Errorf("%v, %d counts", err, len(want.columns))
	}
	for _, columns := range []string{`"AQ=="`, `"gICAgICAgICAgICA"`, `"gA=="`, allInOne(2), allInOne(0)} {
		for _, rows := range []string{`0,"hashes":""`, `1,"hashes":"AQAAAAAAAAA="`} {
			if text := `{"form":1,"rows":` + rows + `,"columns":` + columns + `}`; json.Unmarshal([]byte(text), &got) == nil && (columns != allInOne(0) || rows[0] != '0') {
				t.Errorf("%s is read", text)
			}
		}
	}
}

// allInOne is JSON of a column's counts of which the first is n, and the others 0.
func allInOne(n byte) string {
	text, _ := json.Marshal(append([]byte{n}, make([]byte, buckets-1)...))
	return string(text)
}
