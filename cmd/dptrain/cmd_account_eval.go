package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/accounteval"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newAccountEvalCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "eval",
		Short: "Compute the accountant's functions, one JSON line each",
		Long: `Compute the accountant's functions, one JSON line each, from standard input to
standard output: for comparisons with other implementations. A question is

  {"id": 1, "function": "dp_epsilon", "params": {...}}

and its answer {"id": 1, "value": 2.5}, with "inf" for a value that isn't finite.
A line that makes no sense gets {"id": 1, "error": "..."}, and the rest go on.

Functions: ` + strings.Join(accounteval.Functions(), ", ") + `.`,
		Example: `  dptrain account eval <questions.jsonl >answers.jsonl`,
		Args:    term.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runAccountEval(os.Stdin, g.Out) },
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

// mostQuestion bounds a line, in bytes.
const mostQuestion = 1 << 20

func runAccountEval(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostQuestion)
	enc := json.NewEncoder(out)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := enc.Encode(answer(lines.Bytes())); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return term.Inputf("read questions: %w", err)
	}
	return nil
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
