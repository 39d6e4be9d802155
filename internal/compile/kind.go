package compile

import (
	"reflect"

	"gorgonia.org/gorgonia"
)

// gorgoniaPath is the import path of Gorgonia's operations.
var gorgoniaPath = reflect.TypeFor[gorgonia.Node]().PkgPath()

// typeOf returns an operation's type, through pointers: both have the same methods.
func typeOf(op gorgonia.Op) reflect.Type {
	t := reflect.TypeOf(op)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// kindOf returns the name of the operation's type within Gorgonia, or "" for an operation of another package:
// a type of the same name elsewhere is another operation.
func kindOf(op gorgonia.Op) string {
	if t := typeOf(op); t.PkgPath() == gorgoniaPath {
		return t.Name()
	}
	return ""
}

// typeName returns the operation's type with its package, as errors name it: "gorgonia.softmaxOp", or the whole
// import path of another package.
func typeName(op gorgonia.Op) string {
	t := typeOf(op)
	if t.PkgPath() == gorgoniaPath || t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// operatorOf tells the operators apart that share an operation's type: "exp", "add", "outer product".
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
