package graph

import (
	"fmt"
	"reflect"

	"gorgonia.org/gorgonia"
)

// gorgoniaPath is the import path of Gorgonia's operations.
var gorgoniaPath = reflect.TypeFor[gorgonia.Node]().PkgPath()

// typeOf returns an operation's type without pointers.
func typeOf(op gorgonia.Op) reflect.Type {
	t := reflect.TypeOf(op)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Kind returns the name of the operation's type within Gorgonia, or "" if another package defines it.
func Kind(op gorgonia.Op) string {
	if t := typeOf(op); t.PkgPath() == gorgoniaPath {
		return t.Name()
	}
	return ""
}

// typeName returns the operation's type for error messages: "gorgonia.softmaxOp", or with the whole import path of
// another package.
func typeName(op gorgonia.Op) string {
	t := typeOf(op)
	if t.PkgPath() == gorgoniaPath || t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// The operators of linear algebra.
const (
	MatMul  = "matrix product"
	MatVec  = "matrix times vector"
	Dot     = "dot product"
	Outer   = "outer product"
	Batched = "batched matrix product"
)

// The operators of two operands, in Gorgonia's order.
var (
	products    = [...]string{MatMul, MatVec, Dot, Outer, Batched}
	elementwise = [...]string{"add", "sub", "mul", "div", "pow", "lt", "gt", "lte", "gte", "eq", "ne"}
)

// Operator returns the operator of an operation whose type has several, such as "exp", "add" or [Outer], or "".
func Operator(op gorgonia.Op) string {
	nth := func(names []string, i int) string {
		if i < 0 || i >= len(names) {
			return ""
		}
		return names[i]
	}
	switch Kind(op) {
	case "elemUnaryOp":
		// Each unary operator is a separate function type, and shows only its name.
		return fmt.Sprint(op)
	case "elemBinOp":
		return nth(elementwise[:], FieldsOf(op).Int("ʘBinaryOperator", "ʘBinaryOperatorType"))
	case "linAlgBinOp":
		return nth(products[:], FieldsOf(op).Int("āBinaryOperator"))
	}
	return ""
}
