package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// typesOf names the type of a rule with its package's path, and in parentheses the types of the values that interfaces
// in its exported fields hold. JSON has none of these types, and rules that differ in them alone must not draw the same
// noise.
func typesOf(rule any) string {
	w := typeWriter{seen: map[visited]bool{}}
	w.add(reflect.ValueOf(rule))
	return w.String()
}

type typeWriter struct {
	strings.Builder
	seen map[visited]bool // a value that encodes itself may refer to itself
}

type visited struct {
	of reflect.Type
	at uintptr
}

// add writes the type of an interface's value, and all types within.
func (w *typeWriter) add(v reflect.Value) {
	if !v.IsValid() {
		w.WriteString("nil")
		return
	}
	w.WriteString(typeName(v.Type()))
	w.within(v)
}

// within writes the types of the values in interfaces within a value.
func (w *typeWriter) within(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		at := visited{v.Type(), v.Pointer()}
		if v.IsNil() || w.seen[at] {
			return
		}
		w.seen[at] = true
	}
	switch v.Kind() {
	case reflect.Interface:
		w.WriteString(" (")
		w.add(v.Elem())
		w.WriteString(")")
	case reflect.Pointer:
		w.within(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) {
				w.within(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.within(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			w.within(v.MapIndex(k))
		}
	}
}

// typeName returns a type's name with the whole path of its package: [reflect.Type.String] has the path's end alone.
func typeName(t reflect.Type) string {
	switch {
	case t.Name() != "":
		return t.PkgPath() + "." + t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + typeName(t.Elem())
	}
	return t.String()
}
