package compile

import (
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

// kindOf returns the name of the operation's type within Gorgonia, or "" if another package defines it.
func kindOf(op gorgonia.Op) string {
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

// operatorOf returns the operator of an operation whose type has several, such as "exp", "add" or "outer product", or
// "".
func operatorOf(op gorgonia.Op) string {
	switch kindOf(op) {
	case "elemUnaryOp":
		if f, ok := unaryFunc(op); ok {
			return f.String()
		}
	case "elemBinOp":
		if f, ok := binaryFunc(op); ok {
			return f.String()
		}
	case "linAlgBinOp":
		if i := fieldsOf(op).int("āBinaryOperator"); i >= 0 && i < len(products) {
			return products[i]
		}
	}
	return ""
}
