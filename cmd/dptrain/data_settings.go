package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
)

// dataSettings is a settings file about a person's own files, with comments for that person.
type dataSettings struct {
	head    []string // lines above the settings
	data    settings.Data
	codes   []string // columns of few different whole numbers
	gaps    bool     // whether the public file lacks values
	columns []string // in the order in which blocks by column list them
	// remarks are comments by the key of a block and the column, such as ignore and id. A block's own has no column.
	remarks map[[2]string]string
}

// remarkf sets the comment of a column's line in a block.
func (s *dataSettings) remarkf(key, column, format string, args ...any) {
	if s.remarks == nil {
		s.remarks = map[[2]string]string{}
	}
	s.remarks[[2]string{key, column}] = oneComment(fmt.Sprintf(format, args...))
}

// oneComment makes a text one line, whatever a file's names have in them.
func oneComment(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // of others YAML refuses some in comments
			return ' '
		}
		return r
	}, text)
}

// missingSettings returns options of missing values as settings.
func missingSettings(of map[string]table.Missing) map[string]settings.Missing {
	out := map[string]settings.Missing{}
	for name, m := range of {
		out[name] = settings.Missing(m)
	}
	return out
}

// yaml returns the file, which settings.Resolve reads.
func (s *dataSettings) yaml() (string, error) {
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
	for _, line := range s.head {
		fmt.Fprintln(&b, strings.TrimRight("# "+oneComment(line), " "))
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	return b.String(), nil
}

// layOut sorts a block by column as the columns are, puts each column on one line, and gives lines their comments.
func (s *dataSettings) layOut(key string, block *yaml.Node) {
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
