package table

import (
	"fmt"
	"slices"
)

// SchemaOf returns the schema of options without any file, for a run without a public test file: [Infer]'s counterpart.
// Options.Columns must have the columns to learn from, in the order of a sample's values. The label needs classes, or
// the task regression. A column without categories has numbers. The error is an [*OptionError].
//
// SchemaOf doesn't see the training file, so call [Options.CheckColumns] and [Schema.Count] on it.
func SchemaOf(o Options) (*Schema, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(o.Columns) == 0 {
		return nil, optionf("columns", `none; without a public test file, list the columns to learn from, or write the settings by "dptrain data schema"`)
	}
	fields := make([]field, len(o.Columns))
	for i, name := range o.Columns {
		fields[i] = field{name: name, shape: o.Shapes[name]}
		fields[i].written = o.writtenAs(fields[i])
	}
	fields = split(fields, o.named())
	if err := o.checkNames(slices.Concat(namesOf(fields), []string{o.Label}, o.Ignore), "the settings list", "they list"); err != nil {
		return nil, err
	}
	s := &Schema{}
	ignored := indexOf(o.leftOut())
	for _, f := range fields {
		if _, ok := ignored[f.name]; ok || f.name == o.Label {
			continue
		}
		c, err := o.column(f)
		if err != nil {
			return nil, optionf("categories of "+f.name, "%s", failed(err).Problem)
		}
		s.Columns = append(s.Columns, c)
	}
	if len(s.Columns) == 0 {
		return nil, optionf("columns", "none is left to learn from besides the label and ignored ones")
	}
	if err := o.checkAlone(s.Columns); err != nil {
		return nil, err
	}
	if o.Task == "" && len(o.Classes) > 0 {
		o.Task = Classification
	}
	switch {
	case len(o.Shapes[o.Label]) > 0:
		return nil, optionf("shapes", "%s is the label, which is one value a row", o.Label)
	case o.Task == "":
		return nil, optionf("task", "without a public test file, say what %s is: list its classes by --classes a,b, or give --task regression", o.Label)
	case o.Task == Classification && len(o.Classes) == 0:
		return nil, optionf("classes", "without a public test file, list all classes of %s by --classes a,b", o.Label)
	}
	var err error
	if s.Label, err = o.label(Label{Name: o.Label, Task: o.Task, Classes: o.Classes, Written: o.writtenAs(field{name: o.Label})}); err != nil {
		return nil, err
	}
	return s.shaped()
}

// CheckColumns returns an [*Error] for a file that has columns which the options neither list nor ignore: probably a
// person forgot them. It reads only the header. The error has their positions in its text, and their names in Private.
func (o Options) CheckColumns(f *File) error {
	arrays := arraysOf(o.Columns)
	f.call(append(o.named(), o.Label, o.Unit)...)
	return f.pass(func(name string) bool { return arrays[name] }, func(r rows) error {
		positions, names := o.others(r.fields())
		if len(positions) == 0 {
			return nil
		}
		what := "column " + positions[0] + " isn't among the columns of the settings; list it in data.columns, or ignore it by --ignore"
		if len(positions) > 1 {
			what = "columns " + listed(positions) + " aren't among the columns of the settings; list them in data.columns, or ignore them by --ignore"
		}
		return problemf("%s", what).citing("called %s", quotedNames(names))
	})
}

// others returns the positions, from 1, and the names of fields that the options neither list nor ignore. It leaves out
// a column of row numbers without a name.
func (o Options) others(fields []field) (positions, names []string) {
	known := indexOf(slices.Concat(o.Columns, []string{o.Label}, o.leftOut()))
	for i, f := range fields {
		if _, ok := known[f.name]; ok || f.name == "" {
			continue
		}
		for _, part := range split([]field{f}, o.Columns) {
			if _, ok := known[part.name]; !ok {
				positions, names = append(positions, fmt.Sprint(i+1)), append(names, part.name)
			}
		}
	}
	return positions, names
}

// ordered returns the fields of the public test file that options list, and the label's, in the options' order. Arrays
// whose values have options of their own are split.
func (o Options) ordered(test *File, fields []field) ([]field, error) {
	if _, names := o.others(fields); len(names) > 0 {
		return nil, optionf("columns", "%s also has %s; list them, or ignore them", test.path, listed(names))
	}
	byName := map[string]field{}
	for _, f := range slices.Concat(fields, split(fields, o.named())) {
		byName[f.name] = f
	}
	names := o.Columns
	if !slices.Contains(names, o.Label) {
		names = append(slices.Clone(names), o.Label)
	}
	out := make([]field, len(names))
	for i, name := range names {
		out[i] = byName[name]
		if want, given := o.Shapes[name]; given && !slices.Equal(want, out[i].shape) {
			return nil, optionf("shapes of "+name, "%v, and in %s it is %v", want, test.path, out[i].shape)
		}
	}
	return split(out, o.named()), nil
}
