package settings

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/datasets/table"
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
	switch {
	case root.Tag == "!!null": // only comments
		return nil
	case root.Kind != yaml.MappingNode: // it may be a private file, given by mistake: CSV is one text to YAML
		return errors.New("want a block of settings, as dptrain settings prints one; this file holds none")
	}
	return e.assign(root)
}

// assign sets the settings of a block. A list replaces the earlier one, and columns add up.
func (e *Experiment) assign(block *yaml.Node) error {
	if err := checkBlock("", reflect.TypeFor[Experiment](), block); err != nil {
		return err
	}
	if err := block.Decode(e); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	return nil
}

// check returns an error for a node that isn't a value of the setting at a path, which has the given type.
func check(path string, t reflect.Type, n *yaml.Node) error {
	err := plain(t, n)
	switch block := t.Kind() == reflect.Map || t.Kind() == reflect.Struct; {
	case isNull(n):
		return fmt.Errorf("%s%s: no value; want %s, or leave the line out", at(n), path, wanted(t))
	case err != nil && !errors.Is(err, errUnlike):
		return fmt.Errorf("%s%s: %w", at(n), path, err)
	case err == nil && block && n.Kind == yaml.MappingNode:
		return checkBlock(path, t, n)
	case err != nil || n.Decode(reflect.New(t).Interface()) != nil:
		return fmt.Errorf("%s%s: want %s, got %s", at(n), path, wanted(t), describe(n))
	case (path == "preset" || path == "dataset") && strings.TrimSpace(n.Value) == "":
		// As in a template with an unset variable: the default data would silently be trained on.
		return fmt.Errorf("%s%s: no value; want a name, or leave the line out", at(n), path)
	}
	return nil
}

// checkBlock returns an error for a key of a block that isn't one of its type's, and for a value of another type.
func checkBlock(path string, t reflect.Type, block *yaml.Node) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(block.Content); i += 2 {
		key := block.Content[i]
		within, known := typeIn(t, key.Value)
		name := key.Kind == yaml.ScalarNode && !isNull(key) && key.ShortTag() != "!!merge"
		switch inner := join(path, key.Value); {
		case key.Kind == yaml.AliasNode || key.Anchor != "":
			return fmt.Errorf("%s%w", at(key), errAlias)
		case !name && t.Kind() == reflect.Map:
			return fmt.Errorf("%s%s: want the name of a column, got %s", at(key), path, describe(key))
		case !known && t == missing:
			return fmt.Errorf("%sunknown key %s; there are fill, indicator, words", at(key), inner)
		case !known:
			return fmt.Errorf("%s%w", at(key), unknownKey(inner))
		case seen[key.Value]:
			return fmt.Errorf("%s%s is set twice", at(key), inner)
		default:
			seen[key.Value] = true
			if err := check(inner, within, block.Content[i+1]); err != nil {
				return err
			}
		}
	}
	if t == missing && !seen["fill"] { // would silently be 0
		return fmt.Errorf("%s%s: no fill; give the number that stands for missing ones, as in {fill: 40, indicator: true}", at(block), path)
	}
	return nil
}

// missing is the type of a block that is one setting: another one replaces it whole.
var missing = reflect.TypeFor[table.Missing]()

// override sets the settings of overrides.
func (e *Experiment) override(overrides ...Override) error {
	for _, o := range overrides {
		block, err := o.block()
		if err == nil {
			err = e.assign(block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// block returns the block of settings that an override stands for.
func (o Override) block() (*yaml.Node, error) {
	t := reflect.TypeFor[Experiment]()
	var names []string
	for rest := o.Key; rest != ""; {
		name, after, _ := strings.Cut(rest, ".")
		if t.Kind() == reflect.Map { // its keys may have dots
			name, after = rest, ""
		}
		within, known := typeIn(t, name)
		if !known {
			return nil, unknownKey(o.Key)
		}
		names, t, rest = append(names, name), within, after
	}
	if t.Kind() == reflect.Struct && t != missing {
		return nil, fmt.Errorf("%s is a block of settings; set one of %s", o.Key, strings.Join(namesIn(o.Key), ", "))
	}
	value := strings.TrimSpace(o.Value)
	if value == "" {
		return nil, fmt.Errorf("%s: no value; want %s, or leave it out", o.Key, wanted(t))
	}
	n := nodeOf(t, value)
	if n == nil {
		return nil, fmt.Errorf("%s: want %s, got %q", o.Key, wanted(t), value)
	}
	for _, name := range slices.Backward(names) {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, n}}
	}
	return n, nil
}

// nodeOf returns the node of a value written as in YAML, or without quotes and brackets; nil for none.
func nodeOf(t reflect.Type, value string) *yaml.Node {
	text := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(s)}
	}
	if t.Kind() == reflect.String { // text needs no quotes, with any characters
		return text(value)
	}
	source := value
	if listed := t.Kind() == reflect.Slice || t.Kind() == reflect.Array; listed && value[0] != '[' {
		if t.Elem().Kind() == reflect.String {
			list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			names := strings.Split(value, ",")
			if r := csv.NewReader(strings.NewReader(value)); strings.Contains(value, `"`) { // of names with commas
				r.LazyQuotes, r.TrimLeadingSpace = true, true
				if quoted, err := r.Read(); err == nil {
					names = quoted
				}
			}
			for _, name := range names {
				list.Content = append(list.Content, text(name))
			}
			return list
		}
		source = "[" + value + "]"
	}
	var doc yaml.Node
	cut := !named(t) && strings.ContainsAny(value, "#\n") // YAML would silently drop the rest
	if err := yaml.Unmarshal([]byte(source), &doc); err != nil || len(doc.Content) != 1 || cut {
		return nil
	}
	var unnumber func(n *yaml.Node)
	unnumber = func(n *yaml.Node) { // the user wrote no lines
		n.Line = 0
		for _, part := range n.Content {
			unnumber(part)
		}
	}
	unnumber(&doc)
	return doc.Content[0]
}

var errAlias = errors.New("anchors and aliases are not supported; write the value out")

// numbers matches plain decimal numbers. YAML accepts others: 1_0 is 10, 010 is 8, 0x10 is 16, and .inf is infinite.
var numbers = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// errUnlike reports a node of another type than a setting's.
var errUnlike = errors.New("not what is wanted")

// plain returns an error for a node that the YAML package would drop, or would decode to another value than a person
// expects. It descends into lists.
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
	}
	return nil
}

// named reports whether values of a type are names, which may have any characters.
func named(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return named(t.Elem())
	case reflect.Struct: // with quoted texts
		return true
	}
	return t.Kind() == reflect.String
}

// typeIn returns the type of the value that a struct or a map has under a key.
func typeIn(t reflect.Type, key string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if keyOf(t.Field(i)) == key {
			return t.Field(i).Type, true
		}
	}
	return nil, false
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
	if t == missing {
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
		return "a block by column, for each " + wanted(t.Elem())
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

// describe quotes the beginning of a value: a wrong file can be one long value.
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
// are about grammar.
func oneLine(err error) error {
	return errors.New(lineOf.FindStringSubmatch(err.Error())[1] + "this can't be read as YAML; check brackets, quotes, colons and indentation, which takes spaces and no tabs")
}
