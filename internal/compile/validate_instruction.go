package compile

import (
	"errors"
	"fmt"
	"math"
)

// list checks a list of instructions in order.
func (c *checker) list(name string, code []Instruction) error {
	for at := range code {
		if err := c.instruction(&code[at]); err != nil {
			return fmt.Errorf("%s, instruction %d, %v: %w", name, at, code[at].Op, err)
		}
	}
	return nil
}

// instruction checks one instruction against its row of opTable, in an order in which each check can rely on the
// earlier ones.
func (c *checker) instruction(in *Instruction) error {
	if in.Op >= opEnd {
		return errors.New("no engine knows it here")
	}
	row := in.Op.row()
	if c.preparing && !row.once {
		return errors.New("it needs samples")
	}
	for _, check := range []func(*Instruction, *opRow) error{c.geometry, c.operands, c.result} {
		if err := check(in, row); err != nil {
			return err
		}
	}
	for _, id := range in.Writes() {
		c.written[id] = true
	}
	return nil
}

// geometry checks function, side, sizes and window, each by itself.
func (c *checker) geometry(in *Instruction, row *opRow) error {
	if !row.takes.has(in.Func) {
		return fmt.Errorf("it doesn't take function %q (%d)", in.Func, in.Func)
	}
	if in.Side < 0 || in.Side > 1 {
		return fmt.Errorf("it has no side %d", in.Side)
	}
	product := row.fields&hasProduct != 0 && size(in.Rows, in.K, in.N) == 0
	table := row.fields&hasTable != 0 && (size(in.Rows, in.K) == 0 || size(in.N, in.K) == 0)
	if product || table || row.fields&hasRows != 0 && size(in.Rows, in.K) == 0 {
		return fmt.Errorf("its sizes are %d, %d and %d", in.Rows, in.K, in.N)
	}
	if row.fields&hasGroups != 0 && in.Groups < 1 {
		return fmt.Errorf("it has %d groups", in.Groups)
	}
	if (in.Op == Normalize || in.Op == NormalizeBack) && !(in.Scalar >= 0 && in.Scalar <= math.MaxFloat32) {
		return fmt.Errorf("it adds %v to the variance", in.Scalar)
	}
	if in.Op == Dropout {
		if !(in.Scalar > 0 && in.Scalar <= 1) {
			return fmt.Errorf("it keeps a share of %v", in.Scalar)
		}
		return nil
	}
	if row.fields&hasWindow == 0 {
		return nil
	}
	if err := in.Window.check(); err != nil {
		return err
	}
	w := in.Window
	padded := w.PadH >= w.KH || w.PadW >= w.KW // some windows would hold padding alone
	if (in.Op == MaxPool || in.Op == MaxPoolBack) && (padded || w.OutC != w.C || w.DilationH != 1 || w.DilationW != 1) {
		return errors.New("its window isn't one of pooling")
	}
	return nil
}

// has reports whether the set holds f.
func (s funcs) has(f Func) bool {
	switch s {
	case ofOne:
		return f < unaryEnd
	case ofTwo:
		return f >= Add && f < binaryEnd
	case ofTwoSmooth:
		return f >= Add && f < binaryEnd && f.differentiable()
	}
	return f == 0
}

// operands checks that each operand has been written, with the type and size that the operation needs.
func (c *checker) operands(in *Instruction, row *opRow) error {
	if len(in.In) != len(row.operands) {
		return fmt.Errorf("it has %d operands, not %d", len(in.In), len(row.operands))
	}
	if err := c.known(in.Out); err != nil {
		return err
	}
	perSampleOperands := 0
	for k, o := range row.operands {
		id := in.In[k]
		if err := c.known(id); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		v := c.Values[id]
		if !c.takes(o.role, v) {
			return fmt.Errorf("%s can't be value %d, %v %v", o.name, id, v.Kind, v.Type)
		}
		if want := c.size(in, row, k); v.Size != want && want > 0 {
			return fmt.Errorf("%s is value %d of size %d, not %d", o.name, id, v.Size, want)
		}
		if !c.ready(id) {
			return fmt.Errorf("%s is value %d, which isn't written yet", o.name, id)
		}
		if id == in.Out || id == in.Where {
			return fmt.Errorf("%s is its own result", o.name)
		}
		if v.perSample() {
			perSampleOperands++
		}
	}
	if len(row.operands) > 0 && perSampleOperands == 0 && !c.preparing && in.Op != Gather {
		return errors.New("it is the same for all samples")
	}
	return nil
}

// takes reports whether a value can have the role. In prepare all floats are stored.
func (c *checker) takes(r role, v Value) bool {
	if c.preparing {
		return v.stored() && v.Type == Float32
	}
	return r.takes(v)
}

// takes reports whether a value can have the role in instructions on samples.
func (r role) takes(v Value) bool {
	row := v.perSample()
	switch r {
	case positions:
		return v.Kind == Buffer && v.Type == Int32
	case indices:
		return v.Kind == Input && v.Type == Int32
	case stored:
		return v.stored()
	case copied:
		return (row || v.stored()) && v.Type == Float32
	case either:
		return (row || v.Kind == Shared) && v.Type == Float32
	}
	return row && v.Type == Float32
}

// size returns the size that the result (-1) or operand k must have, or 0 where the view bounds it.
func (c *checker) size(in *Instruction, row *opRow, k int) int {
	if row.size != nil {
		return row.size(in, k)
	}
	return c.Values[in.Out].Size
}

// result checks the values that an instruction writes.
func (c *checker) result(in *Instruction, row *opRow) error {
	z := c.Values[in.Out]
	kind := Buffer
	if c.preparing {
		kind = Derived
	}
	if z.Kind != kind || z.Type != Float32 {
		return fmt.Errorf("%s can't be value %d, %v %v", row.result, in.Out, z.Kind, z.Type)
	}
	if want := c.size(in, row, -1); z.Size != want && want > 0 {
		return fmt.Errorf("%s is value %d of size %d, not %d", row.result, in.Out, z.Size, want)
	}
	if row.fields&hasView != 0 {
		viewed := z.Size
		if in.Op == Gather {
			viewed = c.Values[in.In[0]].Size
		}
		if err := c.view(in.View, viewed, in.View.Size()); err != nil {
			return err
		}
	}
	switch {
	case c.forward[in.Out]:
		return fmt.Errorf("value %d was written by forward", in.Out)
	case in.Accumulate && !row.adds:
		return errors.New("it doesn't accumulate")
	case in.Accumulate && !c.written[in.Out]:
		return fmt.Errorf("it adds to value %d, which isn't written yet", in.Out)
	case in.Drawn(1) > 0 && (in.Draw < 0 || in.Draw%DrawsMultiple != 0 || in.Draw > c.Draws-in.Drawn(z.Size)):
		return fmt.Errorf("its draws %d to %d aren't among a sample's %d", in.Draw, in.Draw+in.Drawn(z.Size)-1, c.Draws)
	case in.Accumulate && c.forward == nil && in.Op != Scatter:
		return errors.New("nothing is added up before backward")
	case !in.Accumulate && c.written[in.Out]:
		return fmt.Errorf("value %d is written already", in.Out)
	}
	if row.fields&hasWhere == 0 {
		return nil
	}
	if err := c.known(in.Where); err != nil {
		return fmt.Errorf("where: %w", err)
	}
	if v := c.Values[in.Where]; v.Kind != Buffer || v.Type != Int32 || v.Size != z.Size || c.written[in.Where] || in.Where == in.Out {
		return fmt.Errorf("it can't write places to value %d", in.Where)
	}
	return nil
}

// check checks a window against the image that it moves over.
func (w *Window) check() error {
	if w == nil {
		return errors.New("it has no window")
	}
	for _, n := range []int{w.inSize(), w.outSize(), w.filterSize(), size(w.StrideH), size(w.StrideW), size(w.DilationH), size(w.DilationW), size(w.Positions(), w.Patch())} {
		if n == 0 {
			return fmt.Errorf("its window %+v has no size", *w)
		}
	}
	fits := func(image, pad, window, stride, dilation, out int) bool {
		if pad < 0 || pad > maxSize {
			return false
		}
		span := image + 2*pad - dilation*(window-1) - 1 // each below 2⁶²
		return span >= 0 && span/stride+1 == out
	}
	if !fits(w.H, w.PadH, w.KH, w.StrideH, w.DilationH, w.OutH) || !fits(w.W, w.PadW, w.KW, w.StrideW, w.DilationW, w.OutW) {
		return fmt.Errorf("its window %+v doesn't fit", *w)
	}
	return nil
}
