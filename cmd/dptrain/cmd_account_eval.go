package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/accounteval"
)

func newAccountEvalCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "eval",
		Short: "Compute the accountant's functions, one JSON line each",
		Long: `Compute the accountant's functions, one JSON line each, from standard input to
standard output: for comparisons with other implementations. A question is

  {"id": 1, "function": "dp_epsilon", "params": {...}}

and its answer {"id": 1, "value": 2.5}, with "inf" for a value that isn't finite.
A line that makes no sense gets {"id": 1, "error": "..."}, and the rest go on; so
does one of more than 1 MiB, whose id isn't read.

Functions: ` + strings.Join(accounteval.Functions(), ", ") + `.`,
		Example: `  dptrain account eval <questions.jsonl >answers.jsonl`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return runAccountEval(os.Stdin, g.stdout) },
	}
}

type evalQuestion struct {
	ID       json.RawMessage `json:"id"`
	Function string          `json:"function"`
	Params   json.RawMessage `json:"params"`
}

type evalAnswer struct {
	ID    json.RawMessage `json:"id"`
	Value any             `json:"value,omitempty"` // a number or "inf"
	Error string          `json:"error,omitempty"`
}

func runAccountEval(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	enc := json.NewEncoder(out)
	for {
		a, err := nextAnswer(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if a != nil {
			if err := enc.Encode(a); err != nil {
				return fmt.Errorf("write answer: %w", err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// mostQuestion bounds a line, which may have no end.
const mostQuestion = 1 << 20

// nextAnswer answers the next line, unless it is empty. With the last one its error is io.EOF.
func nextAnswer(lines *bufio.Reader) (*evalAnswer, error) {
	line, long, err := nextLine(lines)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, coded(codeInput, fmt.Errorf("read questions: %w", err))
	}
	if long {
		return &evalAnswer{ID: json.RawMessage("null"), Error: fmt.Sprintf("a line of more than %d bytes", mostQuestion)}, err
	}
	if len(line) == 0 || len(line) == 1 && line[0] == '\n' {
		return nil, err
	}
	a := answer(line)
	return &a, err
}

// nextLine reads to the end of a line, of which it keeps no more than may be answered.
func nextLine(lines *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostQuestion; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

func answer(line []byte) evalAnswer {
	var q evalQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return evalAnswer{ID: json.RawMessage("null"), Error: err.Error()}
	}
	if q.ID == nil {
		q.ID = json.RawMessage("null")
	}
	value, err := accounteval.Evaluate(q.Function, q.Params)
	switch {
	case err != nil:
		return evalAnswer{ID: q.ID, Error: err.Error()}
	case math.IsInf(value, 1):
		return evalAnswer{ID: q.ID, Value: "inf"}
	case math.IsInf(value, -1) || math.IsNaN(value):
		return evalAnswer{ID: q.ID, Error: fmt.Sprintf("the value is %v", value)}
	}
	return evalAnswer{ID: q.ID, Value: value}
}
