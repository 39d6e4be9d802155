package compile

// String returns the type's name.
func (t Type) String() string { return [...]string{Float32: "float32", Int32: "int32"}[t] }

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{Buffer: "buffer", Input: "input", Param: "param", Const: "const", Shared: "shared", Derived: "derived"}[k]
}
