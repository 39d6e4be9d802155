package enginetest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"pgregory.net/rapid"
)

// Corrupt changes one exported field, or list element, anywhere in a program. An engine must refuse the changed program
// or run it, and must not crash.
func Corrupt(t *rapid.T, p *compile.Program) { corrupt(t, reflect.ValueOf(p).Elem()) }

func corrupt(t *rapid.T, v reflect.Value) {
	for {
		switch v.Kind() {
		case reflect.Struct:
			var fields []reflect.Value
			for i := range v.NumField() {
				if f := v.Field(i); f.CanSet() {
					fields = append(fields, f)
				}
			}
			v = rapid.SampledFrom(fields).Draw(t, "field")
		case reflect.Slice:
			n := v.Len()
			switch what := rapid.IntRange(0, 19).Draw(t, "in a list"); {
			case n == 0:
				return
			case what == 0:
				v.Set(v.Slice(0, rapid.IntRange(0, n-1).Draw(t, "length")))
				return
			case what == 1:
				v.Set(reflect.Append(v, v.Index(rapid.IntRange(0, n-1).Draw(t, "again"))))
				return
			case what == 2:
				i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
				a, b := reflect.ValueOf(v.Index(i).Interface()), reflect.ValueOf(v.Index(j).Interface())
				v.Index(i).Set(b)
				v.Index(j).Set(a)
				return
			}
			v = v.Index(rapid.IntRange(0, n-1).Draw(t, "element"))
		case reflect.Pointer:
			if v.IsNil() || rapid.IntRange(0, 9).Draw(t, "to nil") == 0 {
				v.SetZero()
				return
			}
			v = v.Elem()
		case reflect.Int:
			extreme := []int64{-1 << 63, -1 << 31, -1, 0, 1, 1 << 31, 1 << 32, 1 << 62, 1<<63 - 1}
			now := max(-1<<62, min(v.Int(), 1<<62))
			near := rapid.Int64Range(now-3, now+3)
			v.SetInt(rapid.OneOf(near, rapid.SampledFrom(extreme), rapid.Int64Range(-2, 60)).Draw(t, "number"))
			return
		case reflect.Uint8:
			v.SetUint(uint64(rapid.Uint8().Draw(t, "code")))
			return
		case reflect.Bool:
			v.SetBool(!v.Bool())
			return
		case reflect.Float32:
			v.SetFloat(float64(rapid.Float32().Draw(t, "scalar")))
			return
		default:
			return
		}
	}
}

// corrupted checks that an engine refuses invalid programs.
func (s Suite) corrupted(t *testing.T) {
	names := []string{"residual", "convolutions with stride, padding and dilation", "slices within a sample", "mean of rows that are looked up", "a table looked up twice"}
	zoo := Zoo()
	rapid.Check(t, func(r *rapid.T) {
		p := zoo[rapid.SampledFrom(names).Draw(r, "graph")].Program(r, 1)
		data := RandomData(p, 3, 1)
		Corrupt(r, p)
		wrong := p.Check()
		loaded, err := s.Engine().Load(p, data)
		if err == nil {
			err = loaded.Close()
			if wrong != nil {
				r.Fatalf("loaded in spite of: %v", wrong)
			}
		}
		if err != nil && strings.Contains(err.Error(), "panic") {
			r.Fatal(err)
		}
	})
}

// unknown checks that an engine refuses an unknown operation.
func unknown(t TB, s Suite) {
	p := Zoo()["an identity"].Program(t, 1)
	p.Forward[0].Op = 200
	if _, err := s.Engine().Load(p, RandomData(p, 3, 1)); err == nil {
		t.Errorf("a program with an operation of number 200 was loaded")
	}
}
