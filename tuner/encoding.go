package tuner

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// outcomesKind names the encoding of outcomes and its version.
const outcomesKind = "dptrain outcomes 2"

// outcomeHeader is an encoded outcome without the tensors of its model. JSON has no -Inf: a trial without a model has
// no score.
type outcomeHeader struct {
	Trial      int      `json:"trial"`
	Score      *float64 `json:"score,omitempty"`
	Diverged   bool     `json:"diverged,omitempty"`
	Failure    string   `json:"failure,omitempty"`
	Seconds    float64  `json:"seconds"`
	Parameters *int     `json:"parameters,omitempty"` // the number of its model's tensors; nil for no model
}

// MarshalOutcomes encodes outcomes for [UnmarshalOutcomes] in another process. Floats keep their bits. A float that
// isn't finite is an error, except in a model or as a score of -Inf. The bytes are as private as the outcomes.
func MarshalOutcomes(outcomes []PrivateOutcome) ([]byte, error) {
	return sealOutcomes(outcomesKind, outcomes)
}

// UnmarshalOutcomes decodes the bytes of [MarshalOutcomes], and accepts no others. It doesn't check the outcomes
// against a plan: [Executor.RunAll] does. The error shows nothing private.
func UnmarshalOutcomes(data []byte) ([]PrivateOutcome, error) {
	outcomes, err := unsealOutcomes(outcomesKind, data)
	if err != nil {
		return nil, fmt.Errorf("outcomes of trials: %w; fetch them again", err)
	}
	return outcomes, nil
}

func sealOutcomes(kind string, outcomes []PrivateOutcome) ([]byte, error) {
	headers := make([]outcomeHeader, len(outcomes))
	var tensors []safetensors.Tensor
	for i, o := range outcomes {
		h := outcomeHeader{Trial: o.Trial, Diverged: o.Diverged, Failure: o.Failure, Seconds: o.Trace.Seconds}
		if o.Score != lowest {
			h.Score = &o.Score
		}
		if o.Parameters != nil {
			h.Parameters = new(len(o.Parameters))
		}
		for _, p := range o.Parameters {
			tensors = append(tensors, safetensors.Tensor{Name: p.Name, Shape: p.Shape, Data: p.Values})
		}
		headers[i] = h
	}
	data, err := safetensors.Seal(kind, headers, tensors)
	if err != nil {
		return nil, fmt.Errorf("outcomes of trials: %w", err)
	}
	return data, nil
}

func unsealOutcomes(kind string, data []byte) ([]PrivateOutcome, error) {
	var headers []outcomeHeader
	tensors, err := safetensors.Unseal(kind, data, &headers)
	if err != nil {
		return nil, err
	}
	outcomes := make([]PrivateOutcome, len(headers))
	for i, h := range headers {
		o := PrivateOutcome{
			Trial: h.Trial, Score: lowest, Diverged: h.Diverged, Failure: h.Failure, Trace: train.PrivateTrace{Seconds: h.Seconds},
		}
		if h.Score != nil {
			o.Score = *h.Score
		}
		if h.Parameters != nil {
			n := *h.Parameters
			if n < 0 || n > len(tensors) {
				return nil, fmt.Errorf("a model of %d parameters, and %d are left", n, len(tensors))
			}
			o.Parameters = make([]train.Parameter, n)
			for k, t := range tensors[:n] {
				if t.Ints != nil {
					return nil, errors.New("integers in place of parameters")
				}
				o.Parameters[k] = train.Parameter{Name: t.Name, Shape: t.Shape, Values: t.Data}
			}
			tensors = tensors[n:]
		}
		outcomes[i] = o
	}
	if len(tensors) > 0 {
		return nil, fmt.Errorf("%d tensors of no model", len(tensors))
	}
	return outcomes, nil
}
