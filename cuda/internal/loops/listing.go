package main

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// position is a line of the sources.
type position struct {
	file string // without its directory
	line int
}

// instruction is one machine instruction.
type instruction struct {
	text  string
	words [2]uint64
	calls []position // the line that it was made of, the line that this function was inlined at, and so on
}

// kernel is one kernel's machine code: an instruction every 16 bytes. The subroutines that it calls follow it.
type kernel struct {
	name    string
	code    []instruction
	labels  map[string]int // indices in code
	entries []int          // where the kernel and its subroutines begin
	tables  []byte         // constant bank 2: addresses that indirect branches go to
}

const bytesEach = 16

var (
	anySectionLine = regexp.MustCompile(`^\t\.section\t`)
	sectionLine    = regexp.MustCompile(`^\t\.section\t\.(text|nv\.constant2)\.(\w+),`)
	labelLine      = regexp.MustCompile(`^(\.L_x_\d+):$`)
	entryLine      = regexp.MustCompile(`^\$[\w$]+:$`)
	sourceLine     = regexp.MustCompile(`^\t//## File "([^"]+)", line (\d+)( inlined at .*)?$`)
	wordLine       = regexp.MustCompile(`^\s+(?:/\*([0-9a-f]{4,})\*/\s+(.*\S)\s+)?/\* 0x([0-9a-f]{16}) \*/$`)
	dataLine       = regexp.MustCompile(`^\s+/\*[0-9a-f]{4,}\*/\s+\.byte\s+(0x[0-9a-f, x]+)$`)
)

// parse reads what nvdisasm -hex -gi prints of a module.
func parse(listing string) ([]*kernel, error) {
	p := parser{kernels: map[string]*kernel{}}
	n := 0
	for line := range strings.Lines(listing) {
		n++
		if err := p.line(strings.TrimRight(line, "\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if p.half {
		return nil, fmt.Errorf("line %d: the listing ends within an instruction", n)
	}
	var out []*kernel
	for _, k := range p.order {
		if len(k.code) == 0 {
			continue
		}
		if last := k.entries[len(k.entries)-1]; last >= len(k.code) {
			return nil, fmt.Errorf("%s: a subroutine begins at instruction %d of %d", k.name, last, len(k.code))
		}
		out = append(out, k)
	}
	if out == nil {
		return nil, errors.New("no machine code")
	}
	return out, nil
}

type parser struct {
	kernels map[string]*kernel
	order   []*kernel
	in      string // the kind of section
	k       *kernel
	calls   []position
	above   bool // the line above was a position, too, which this one continues
	half    bool // of the last instruction's two words one has been read
}

func (p *parser) line(line string) error {
	if anySectionLine.MatchString(line) {
		if p.half {
			return errors.New("a section begins within an instruction")
		}
		p.in = ""
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			p.in, p.k = m[1], p.kernels[m[2]]
			if p.k == nil {
				p.k = &kernel{name: m[2], labels: map[string]int{}, entries: []int{0}}
				p.kernels[m[2]] = p.k
				p.order = append(p.order, p.k)
			}
		}
		p.calls, p.above = nil, false
		return nil
	}
	switch p.in {
	case "text":
		return p.text(line)
	case "nv.constant2":
		return p.data(line)
	}
	return nil
}

func (p *parser) text(line string) error {
	if m := sourceLine.FindStringSubmatch(line); m != nil {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return err
		}
		if !p.above {
			p.calls = nil
		}
		p.calls, p.above = append(p.calls, position{path.Base(m[1]), n}), true
		return nil
	}
	if m := labelLine.FindStringSubmatch(line); m != nil {
		p.k.labels[m[1]] = len(p.k.code)
		return nil
	}
	if entryLine.MatchString(line) {
		p.k.entries = append(p.k.entries, len(p.k.code))
		return nil
	}
	m := wordLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	p.above = false
	word, err := strconv.ParseUint(m[3], 16, 64)
	if err != nil {
		return err
	}
	if p.half = !p.half; !p.half {
		p.k.code[len(p.k.code)-1].words[1] = word
		return nil
	}
	text := strings.TrimSpace(strings.TrimSuffix(m[2], ";"))
	if m[1] != "" {
		if at, err := strconv.ParseInt(m[1], 16, 64); err != nil || at != int64(len(p.k.code)*bytesEach) {
			return fmt.Errorf("address %s of instruction %d", m[1], len(p.k.code))
		}
	} else {
		// Hopper's minimum of integers isn't printed by nvdisasm 11.8.
		const opcode, minimum = 0x1ff, 0x048
		if word&opcode != minimum {
			return fmt.Errorf("nvdisasm doesn't print the instruction %s", m[3])
		}
		text = "VIMNMX"
	}
	p.k.code = append(p.k.code, instruction{text, [2]uint64{word}, p.calls})
	return nil
}

func (p *parser) data(line string) error {
	m := dataLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	for _, b := range strings.Split(m[1], ", ") {
		v, err := strconv.ParseUint(b, 0, 8)
		if err != nil {
			return err
		}
		p.k.tables = append(p.k.tables, byte(v))
	}
	return nil
}
