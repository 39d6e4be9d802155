package suggest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/show"
)

// File is a settings file about a person's own files, with comments for that person.
type File struct {
	// Notes are what the person should decide about. They stand above the settings too.
	Notes []string
	// LeftOut says which columns aren't learned from; it is empty if all are.
	LeftOut string

	head    []string // lines above the settings and the notes
	data    settings.Data
	codes   []string // columns of few different whole numbers
	gaps    bool     // whether the public file lacks values
	left    release.LeftOut
	columns []string // in the order in which blocks by column list them
	// remarks are comments by the key of a block and the column, such as ignore and id. A block's own has no column.
	remarks map[[2]string]string
}

// remarkf sets the comment of a column's line in a block.
func (s *File) remarkf(key, column, format string, args ...any) {
	if s.remarks == nil {
		s.remarks = map[[2]string]string{}
	}
	s.remarks[[2]string{key, column}] = show.Printable(fmt.Sprintf(format, args...))
}

// YAML returns the file, which settings.Resolve reads.
func (s *File) YAML() (string, error) {
	var doc yaml.Node
	if err := doc.Encode(map[string]settings.Data{"data": s.data}); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	data := doc.Content[1]
	for i := 0; i+1 < len(data.Content); i += 2 {
		key, value := data.Content[i].Value, data.Content[i+1]
		if remark := s.remarks[[2]string{key, ""}]; remark != "" && value.Kind == yaml.ScalarNode {
			value.LineComment = "# " + remark
		} else if remark != "" {
			data.Content[i].HeadComment = "# " + remark
		}
		switch value.Kind {
		case yaml.MappingNode:
			s.layOut(key, value)
		case yaml.SequenceNode:
			for _, entry := range value.Content {
				if remark := s.remarks[[2]string{key, entry.Value}]; remark != "" {
					value.Style, entry.LineComment = 0, "# "+remark
				}
			}
		}
	}
	var b bytes.Buffer
	for _, line := range slices.Concat(s.head, s.Notes) {
		fmt.Fprintln(&b, strings.TrimRight("# "+show.Printable(line), " "))
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	return b.String(), nil
}

// layOut sorts a block by column as the columns are, puts each column on one line, and gives lines their comments.
func (s *File) layOut(key string, block *yaml.Node) {
	type entry struct{ name, value *yaml.Node }
	var entries []entry
	for i := 0; i+1 < len(block.Content); i += 2 {
		entries = append(entries, entry{block.Content[i], block.Content[i+1]})
	}
	position := map[string]int{}
	for i, name := range s.columns {
		position[name] = i
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return position[a.name.Value] - position[b.name.Value] })
	block.Content = block.Content[:0]
	for _, e := range entries {
		e.value.Style = yaml.FlowStyle
		for _, number := range e.value.Content {
			if v, err := strconv.ParseFloat(number.Value, 64); err == nil && number.ShortTag() == "!!float" && math.Abs(v) < 1e15 && math.Abs(v) > 1e-6 {
				number.Value = strconv.FormatFloat(v, 'f', -1, 64) // people read 1230000 better than 1.23e+06
				number.Tag = ""                                    // a whole number would be !!float 1230000
			}
		}
		if remark := s.remarks[[2]string{key, e.name.Value}]; remark != "" {
			e.value.LineComment = "# " + remark
		}
		block.Content = append(block.Content, e.name, e.value)
	}
}

// Columns returns settings for columns that a person knows about.
func Columns(o table.Options) *File {
	s := &File{
		head: []string{
			"Written by dptrain data schema. All of it is public, and released with the model: take it from common knowledge,",
			"never from private rows.",
		},
		data: settings.Data{
			Label: o.Label, Task: string(o.Task), Classes: o.Classes, Ignore: o.Ignore, Columns: o.Columns, Text: o.Text, Shapes: o.Shapes,
			Categories: o.Categories, Missing: o.Missing, Written: o.Written, Clip: o.Clip, Scale: o.Scale,
		},
		columns: o.Columns,
	}
	s.remarkf("clip", "", "values beyond these are taken as the nearer of the two")
	s.remarkf("scale", "", "(value - first)/second, which makes the range about -1.7 to 1.7")
	return s
}
