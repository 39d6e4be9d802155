package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/internal/nearest"
)

// decode sets the settings of a YAML document in e, and leaves the others as they are.
func (e *Experiment) decode(text []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return oneLine(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one document; put all settings into one")
	}
	root := doc.Content[0]
	if root.Tag == "!!null" { // only comments
		return nil
	}
	return assign(reflect.ValueOf(e).Elem(), root, "")
}

// set sets the setting at a dotted path to a value written as in YAML.
func (e *Experiment) set(key, value string) error {
	v := reflect.ValueOf(e).Elem()
	path := ""
	names := strings.Split(key, ".")
	for i, name := range names {
		if v.Kind() == reflect.Map { // its keys may have dots
			return setEntry(v, strings.Join(names[i:], "."), path, value)
		}
		path = join(path, name)
		field, ok := fieldOf(v, name)
		if !ok {
			return unknownKey(key)
		}
		v = field
	}
	if v.Kind() == reflect.Struct {
		return fmt.Errorf("%s is a block of settings; set one of %s", key, strings.Join(namesIn(key), ", "))
	}
	return setText(v, path, value)
}

// setEntry sets one entry of a block by column. It copies the block, which another experiment may share.
func setEntry(m reflect.Value, key, path, value string) error {
	entry := reflect.New(m.Type().Elem()).Elem()
	if err := setText(entry, join(path, key), value); err != nil {
		return err
	}
	fresh := reflect.MakeMap(m.Type())
	for old := m.MapRange(); old.Next(); {
		fresh.SetMapIndex(old.Key(), old.Value())
	}
	fresh.SetMapIndex(reflect.ValueOf(key), entry)
	m.Set(fresh)
	return nil
}

// setText sets a setting to a value written as in YAML, or without its quotes and brackets.
func setText(v reflect.Value, path, value string) error {
	if value = strings.TrimSpace(value); value == "" {
		return fmt.Errorf("%s: no value; want %s, or leave it out", path, wanted(v.Type()))
	}
	if v.Kind() == reflect.String { // text needs no quotes, whatever its characters
		v.SetString(value)
		return nil
	}
	text := value
	// Nor does a list need brackets.
	if listed := v.Kind() == reflect.Slice || v.Kind() == reflect.Array; listed && value[0] != '[' {
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.ValueOf(namesOf(value)))
			return nil
		}
		text = "[" + value + "]"
	}
	var doc yaml.Node
	cut := !named(v.Type()) && strings.ContainsAny(value, "#\n") // YAML would silently drop the rest
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) != 1 || cut {
		return fmt.Errorf("%s: want %s, got %q", path, wanted(v.Type()), value)
	}
	doc.Content[0].Line = 0 // the user wrote no lines
	return assign(v, doc.Content[0], path)
}

// namesOf splits a list of names, which may be empty.
func namesOf(list string) []string {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

var errAlias = errors.New("anchors and aliases are not supported; write the value out")

// assign decodes one node of a document into the setting at path.
func assign(v reflect.Value, n *yaml.Node, path string) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("%s%w", at(n), errAlias)
	}
	if isNull(n) {
		return fmt.Errorf("%s%s: no value; want %s, or leave the line out", at(n), path, wanted(v.Type()))
	}
	if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct {
		return assignBlocks(v, n, path)
	}
	if v.Kind() != reflect.Struct {
		err := plain(v.Type(), n)
		if err != nil && !errors.Is(err, errUnlike) {
			return fmt.Errorf("%s%s: %w", at(n), path, err)
		}
		fresh := reflect.New(v.Type()) // a file's list replaces the preset's, and isn't merged into it
		if err != nil || n.Decode(fresh.Interface()) != nil {
			return fmt.Errorf("%s%s: want %s, got %s", at(n), path, wanted(v.Type()), describe(n))
		}
		v.Set(fresh.Elem())
		return nil
	}
	if n.Kind != yaml.MappingNode && path == "" {
		// It may be a private file, given by mistake: CSV is one text to YAML.
		return errors.New("want a block of settings, as dptrain settings prints one; this file holds none")
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s%s: want %s, got %s", at(n), path, wanted(v.Type()), describe(n))
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := join(path, key.Value)
		field, ok := fieldOf(v, key.Value)
		switch {
		case !ok && v.Type() == reflect.TypeFor[Missing]():
			return fmt.Errorf("%sunknown key %s; there are fill, indicator, words", at(key), name)
		case !ok:
			return fmt.Errorf("%s%w", at(key), unknownKey(name))
		case seen[name]:
			return fmt.Errorf("%s%s is set twice", at(key), name)
		}
		seen[name] = true
		if err := assign(field, value, name); err != nil {
			return err
		}
	}
	if v.Type() == reflect.TypeFor[Missing]() && !seen[join(path, "fill")] { // 0 would stand in silently
		return fmt.Errorf("%s%s: no fill; give the number that stands for missing ones, as in {fill: 40, indicator: true}", at(n), path)
	}
	return nil
}

// assignBlocks decodes a block of blocks by column, each as strictly as a block of settings.
func assignBlocks(v reflect.Value, n *yaml.Node, path string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s%s: want %s, got %s", at(n), path, wanted(v.Type()), describe(n))
	}
	fresh := reflect.MakeMap(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || isNull(key) || key.ShortTag() == "!!merge" || key.Anchor != "":
			return fmt.Errorf("%s%s: want the name of a column, got %s", at(key), path, describe(key))
		case fresh.MapIndex(reflect.ValueOf(key.Value)).IsValid():
			return fmt.Errorf("%s%s: column %s is set twice", at(key), path, key.Value)
		}
		entry := reflect.New(v.Type().Elem()).Elem()
		if err := assign(entry, n.Content[i+1], join(path, key.Value)); err != nil {
			return err
		}
		fresh.SetMapIndex(reflect.ValueOf(key.Value), entry)
	}
	v.Set(fresh)
	return nil
}

// numbers matches plain decimal numbers. YAML accepts others: 1_0 is 10, 010 is 8, 0x10 is 16, and .inf is infinite.
var numbers = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// errUnlike reports a node of another type than a setting's.
var errUnlike = errors.New("not what is wanted")

// plain returns an error for a node that the YAML package would drop, or decode to another value than a person reads.
// It descends into lists and blocks by column.
func plain(t reflect.Type, n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return errAlias
	case isNull(n):
		return errUnlike
	}
	switch kind := t.Kind(); kind {
	case reflect.Pointer:
		return plain(t.Elem(), n)
	case reflect.Int, reflect.Float64:
		tag := n.ShortTag()
		number := tag == "!!int" || tag == "!!float"
		switch {
		case number && !numbers.MatchString(n.Value):
			return fmt.Errorf("want a plain decimal number such as 10 or 2.5e-3, got %q", n.Value)
		case !number || kind == reflect.Int && tag != "!!int": // 1.5 would be 1
			return errUnlike
		}
	case reflect.Slice, reflect.Array:
		for _, element := range n.Content {
			if err := plain(t.Elem(), element); err != nil {
				return err
			}
		}
	case reflect.Map:
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || isNull(key) || key.ShortTag() == "!!merge" {
				return fmt.Errorf("want the name of a column, got %s", describe(key))
			}
			if err := plain(t.Elem(), n.Content[i+1]); err != nil {
				return fmt.Errorf("column %s: %w", key.Value, err)
			}
		}
	}
	return nil
}

// named reports whether values of a type are names, which may have any characters.
func named(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return named(t.Elem())
	case reflect.Struct: // whose texts stand in quotes
		return true
	}
	return t.Kind() == reflect.String
}

// fieldOf returns the field of a struct that has the key.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	for i := range v.NumField() {
		if keyOf(v.Type().Field(i)) == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// Keys returns the dotted paths of all settings, in the order of the presets.
func Keys() []string { return keys(reflect.TypeFor[Experiment](), "") }

func keys(t reflect.Type, path string) []string {
	if t.Kind() != reflect.Struct {
		return []string{path}
	}
	var all []string
	for i := range t.NumField() {
		all = append(all, keys(t.Field(i).Type, join(path, keyOf(t.Field(i))))...)
	}
	return all
}

// namesIn returns the dotted paths of the settings and blocks directly within a block.
func namesIn(parent string) []string {
	var names []string
	for _, key := range Keys() {
		rest, inside := strings.CutPrefix(key, parent+".")
		if parent == "" {
			rest, inside = key, true
		}
		if !inside {
			continue
		}
		first, _, _ := strings.Cut(rest, ".")
		if name := join(parent, first); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// unknownKey returns an error that names the key that was probably meant: one with a similar path or, if the block was
// forgotten, with a similar last part.
func unknownKey(key string) error {
	last := lastPart(key)
	near := nearest.Name(append(Keys(), namesIn("")...), func(known string) (int, bool) {
		d := min(nearest.Distance(key, known), nearest.Distance(last, lastPart(known)))
		return d, d <= tolerance(last)
	})
	if near != "" {
		return fmt.Errorf("unknown key %s; did you mean %s?", key, near)
	}
	siblings := namesIn(block(key))
	if len(siblings) == 0 {
		siblings = namesIn("")
	}
	return fmt.Errorf("unknown key %s; there are %s", key, strings.Join(siblings, ", "))
}

func block(key string) string { return key[:max(0, strings.LastIndexByte(key, '.'))] }

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func at(n *yaml.Node) string {
	if n.Line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", n.Line)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// wanted returns a setting's type for an error, after "want".
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[Missing]() {
		return "a block such as {fill: 40, indicator: true}"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Int:
			return "a list of whole numbers"
		case reflect.String:
			return "a list of names"
		}
		return "a list of numbers"
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return "a block by column, such as {age: {fill: 40, indicator: true}}"
		}
		return "a block of " + wanted(t.Elem()) + " by column"
	case reflect.Array:
		return fmt.Sprintf("a list of %d numbers", t.Len())
	case reflect.String:
		return "text"
	case reflect.Struct:
		return "a block of settings"
	default:
		return "a number"
	}
}

// describe cites the beginning of a value: a wrong file can be one long value.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a block"
	case yaml.SequenceNode:
		const most = 20
		values := make([]string, min(most, len(n.Content)))
		for i := range values {
			values[i] = beginning(n.Content[i].Value)
		}
		if len(n.Content) > most {
			return fmt.Sprintf("a list of %d that begins with %q", len(n.Content), values)
		}
		return fmt.Sprintf("the list %q", values)
	default:
		return fmt.Sprintf("%q", beginning(n.Value))
	}
}

func beginning(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// lineOf matches the beginning of the YAML package's errors.
var lineOf = regexp.MustCompile(`^(?:yaml: )?(line [0-9]+: )?`)

// oneLine returns an error for text that isn't YAML, with the line if the YAML package has it. The package's own words
// are those of a grammar.
func oneLine(err error) error {
	return errors.New(lineOf.FindStringSubmatch(err.Error())[1] + "this can't be read as YAML; check brackets, quotes, colons and indentation, which takes spaces and no tabs")
}
