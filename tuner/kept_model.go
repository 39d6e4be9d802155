package tuner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/train"
)

// modelName is the name in the store of the best trial's model, if that trial was carried out elsewhere: there is no
// state of it here.
const modelName = "model"

// keptModel is what stands before the values of a kept model, as JSON.
type keptModel struct {
	Trial   int         `json:"trial"`
	Outcome keptOutcome `json:"outcome"`
}

// keepModel keeps the model of trial i, and its outcome with it, in place of an earlier one:
//
//	checksum 32 bytes, as before outcomes
//	length   uint32, little-endian, of the JSON
//	JSON     keptModel
//	values   float32, little-endian, of all parameters in order
func (x *execution) keepModel(i int) error {
	text, err := json.Marshal(keptModel{i, *keptOf(x.outcomes[i])})
	if err != nil {
		return fmt.Errorf("encode the best trial's model: %w", err)
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	for _, p := range x.outcomes[i].model {
		for _, v := range p.Values {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(v))
		}
	}
	sum, err := x.sum(body)
	if err != nil {
		return err
	}
	if err := x.keeper.Store.Save(modelName, append(sum, body...)); err != nil {
		return fmt.Errorf("save the best trial's model: %w", err)
	}
	x.stored = i
	return nil
}

// readModel returns the trial whose model is kept by keepModel, and its outcome with the model; none for no model.
func (x *execution) readModel() (trial int, o outcome, err error) {
	content, err := x.keeper.Store.Load(modelName)
	if err != nil || content == nil {
		return none, o, err
	}
	damaged := func(problem string) (int, outcome, error) {
		return none, outcome{}, fmt.Errorf("%w: the best trial's model: %s", train.ErrState, problem)
	}
	if len(content) < sha256.Size+4 {
		return damaged("cut short")
	}
	head, body := content[:sha256.Size], content[sha256.Size:]
	sum, err := x.sum(body)
	if err != nil {
		return none, o, err
	}
	if !bytes.Equal(sum, head) {
		return damaged("checksum differs")
	}
	length, rest := binary.LittleEndian.Uint32(body), body[4:]
	if uint64(length) > uint64(len(rest)) {
		return damaged("cut short")
	}
	var kept keptModel
	if err := json.Unmarshal(rest[:length], &kept); err != nil {
		return damaged(err.Error())
	}
	if kept.Trial < 0 || kept.Trial >= len(x.plan.Private.Trials) {
		return damaged(fmt.Sprintf("of trial %d, and the plan has %d", kept.Trial, len(x.plan.Private.Trials)))
	}
	if x.shapes, err = x.shape(); err != nil {
		return none, o, err
	}
	values := rest[length:]
	var given []train.Parameter
	for _, p := range x.shapes {
		if len(values) < 4*len(p.Values) {
			return damaged("it has too few values")
		}
		for k := range p.Values { // of this call's own copy
			p.Values[k] = math.Float32frombits(binary.LittleEndian.Uint32(values[4*k:]))
		}
		values = values[4*len(p.Values):]
		given = append(given, p)
	}
	o = x.outcomeOf(kept.Trial, kept.Outcome)
	model, problem := x.modelOf(given)
	if len(values) > 0 {
		problem = "it has too many values"
	}
	if problem != "" {
		return damaged(problem)
	}
	o.model, x.stored = model, kept.Trial
	return kept.Trial, o, nil
}
