package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/internal/random"
)

// HeldOut is a set of private samples that no run trains on. Models are scored on it with Gaussian noise, in place of a
// public test set. Make it by [NewHeldOut], and hold out each sample independently with a probability Rate.
//
// A score is a sum over the held-out samples, each of which counts from -1/2 to 1/2, plus noise, divided by the nominal
// size Rate·n. The number of held-out samples isn't used, as it is private. In a classification a sample counts 1/2 if
// its class is predicted, and else -1/2; the score estimates the accuracy. In a regression it counts 1/2 - min(e²/4, 1)
// for an error e, so that only errors below two units count in full: scale labels to a standard deviation of about one.
// The score estimates 1 less the mean of min(e², 4), which is R² if labels have variance 1. In a classification that is
// scored by [NegativeLogLoss] a sample counts 1/2 - min(-ln p, 8)/8, where p is the softmax of its class.
//
// One score costs [HeldOutSettings.Event]: a Gaussian mechanism. Adding or removing one sample changes the sum by at
// most 1/2, and the noise has a standard deviation of NoiseMultiplier/2. Sums and noise are rounded to a grid of 2^-10
// on which they add up exactly, and the result to 1/64 of the noise's standard deviation. Package tuner has the
// guarantee of a tuning that selects by such scores.
type HeldOut struct {
	data     *Data // the held-out samples
	rows     []int32
	settings HeldOutSettings
	of       [sha256.Size]byte // hash of all the data

	metric   Metric
	width    int // of one sample's outputs
	weigh    func(row int, output []float32) (counts float64)
	constant [][]float64 // for each constant answer, each sample's count
}

// HeldOutSettings are the public settings of a [HeldOut].
type HeldOutSettings struct {
	Rate            float64 // probability that a sample is held out, in (0, 1)
	NoiseMultiplier float64 // noise of a score in units of its sensitivity, 1/2; above 0
	LogLoss         bool    `json:",omitzero"` // score classes by [NegativeLogLoss] instead of [Accuracy]
}

// Validate returns a [*SettingError] for the first invalid setting, or nil.
func (s HeldOutSettings) Validate() error {
	if !(s.Rate > 0 && s.Rate < 1) {
		return &SettingError{"holdout rate", s.Rate, "a number in (0, 1)"}
	}
	if !(s.NoiseMultiplier > 0 && s.NoiseMultiplier <= maxScoreNoise) {
		return &SettingError{"noise multiplier of scores", s.NoiseMultiplier, fmt.Sprintf("a number in (0, %v]", maxScoreNoise)}
	}
	return nil
}

// Event returns the privacy event of one score: [HeldOut] says why.
func (s HeldOutSettings) Event() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: s.NoiseMultiplier}
}

const (
	// scoreGrid is the grid of sums and noise. On it sums of 2^31 samples and noise of maxScoreNoise are exact in
	// float64. Noise far below the grid rounds to none: that is a rounded Gaussian mechanism too, and costs no more
	// than one. Noisy sums are rounded to a coarser grid where noise is large: see [coarseGrid].
	scoreGrid     = 0x1p-10
	maxScoreNoise = 1e9
	// fullError is the square of the error beyond which all errors of a regression count alike.
	fullError = 4
	// fullLoss is the log loss beyond which all losses count alike: that of a probability of 1/2981.
	fullLoss = 8
)

// NewHeldOut returns the samples of a labelled set at the given ascending positions, for noisy scores. It copies them.
// The error is a [*DataError] or a [*SettingError].
func NewHeldOut(all Labelled, rows []int32, s HeldOutSettings) (*HeldOut, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	h := &HeldOut{rows: slices.Clone(rows), settings: s}
	switch set := all.(type) {
	case *Classification:
		if set == nil || set.Data == nil {
			return nil, errNoLabels
		}
		if err := set.scorable(); err != nil {
			return nil, err
		}
		h.metric, h.width = Accuracy, set.classes
		labels, err := pick(set.labels, rows)
		if err != nil {
			return nil, err
		}
		h.weigh = func(row int, logits []float32) float64 { return right(argmax(logits) == int(labels[row])) }
		if s.LogLoss {
			h.metric = NegativeLogLoss
			h.weigh = func(row int, logits []float32) float64 {
				return graded(-math.Log(float.Softmax(logits, 1)[labels[row]]) / fullLoss)
			}
		}
		h.constant = classes(labels, set.classes)
	case *Regression:
		if set == nil || set.Data == nil {
			return nil, errNoLabels
		}
		if err := checkLabels(len(set.targets), set.Data); err != nil {
			return nil, err
		}
		h.metric, h.width = R2, 1
		targets, err := pick(set.targets, rows)
		if err != nil {
			return nil, err
		}
		h.weigh = func(row int, output []float32) float64 { return closeness(float64(output[0]) - float64(targets[row])) }
		zero := make([]float64, len(targets))
		for i, y := range targets {
			zero[i] = closeness(float64(y))
		}
		h.constant = [][]float64{zero}
	case *Measured:
		return nil, errUnknownSensitivity
	default:
		return nil, &DataError{fmt.Sprintf("hold out samples of a %T: want a *train.Classification or *train.Regression", all)}
	}
	data, err := subset(all.Inputs(), rows)
	if err != nil {
		return nil, err
	}
	h.data, h.of = data, all.Inputs().Digest()
	return h, nil
}

// pick returns the values at the given positions, which must ascend.
func pick[T any](values []T, rows []int32) ([]T, error) {
	if err := checkMembers(rows, len(values)); err != nil {
		return nil, fmt.Errorf("held-out samples: %w", err)
	}
	return gather(values, 1, rows), nil
}

// subset returns a copy of some samples of a set.
func subset(d *Data, rows []int32) (*Data, error) {
	columns := make([]engine.Column, len(d.columns.Columns))
	for k, c := range d.columns.Columns {
		size := 0
		if n := d.Samples(); n > 0 {
			size = c.Len() / n
		}
		if c.Ints != nil {
			columns[k].Ints = gather(c.Ints, size, rows)
		} else {
			columns[k].Floats = gather(c.Floats, size, rows)
		}
	}
	return newData(len(rows), columns)
}

// gather never returns nil, since its non-nil slice gives a column its type.
func gather[T any](values []T, size int, rows []int32) []T {
	out := make([]T, 0, len(rows)*size)
	for _, row := range rows {
		out = append(out, values[int(row)*size:(int(row)+1)*size]...)
	}
	return out
}

// right returns a sample's count in a classification.
func right(predicted bool) float64 {
	if predicted {
		return 0.5
	}
	return -0.5
}

// closeness returns a sample's count in a regression with error e.
func closeness(e float64) float64 { return graded(e * e / fullError) }

// graded returns a sample's count for a share of the full error or loss, as a multiple of scoreGrid. A share that isn't
// a number counts like a large one.
func graded(share float64) float64 {
	if !(share < 1) {
		share = 1
	}
	return 0.5 - math.RoundToEven(share/scoreGrid)*scoreGrid
}

// classes returns, for each class, half of its indicator: a sample's count in the class's sum, see [HeldOut.Release].
func classes(labels []int32, n int) [][]float64 {
	out := make([][]float64, n)
	for c := range out {
		out[c] = make([]float64, len(labels))
	}
	for i, label := range labels {
		out[label][i] = 0.5
	}
	return out
}

// Samples returns 0: the number of held-out samples is private.
func (h *HeldOut) Samples() int { return 0 }

// Metric returns [Accuracy], [NegativeLogLoss] or [R2], which scores estimate.
func (h *HeldOut) Metric() Metric { return h.metric }

// Constant returns NaN: the score of a constant answer is private. [HeldOut.Release] releases one with noise.
func (h *HeldOut) Constant() float64 { return math.NaN() }

// Inputs returns the held-out samples, which are private.
func (h *HeldOut) Inputs() *Data {
	if h == nil {
		return nil
	}
	return h.data
}

func (h *HeldOut) outputs() int { return h.width }

func (h *HeldOut) scorable() error { return nil }

// score returns NaN: a score of held-out samples needs noise.
func (h *HeldOut) score([]float32) float64 { return math.NaN() }

// checkRun returns an error if a run on data with the given hash trains on a held-out sample. The charge of a score
// would then be too low.
func (h *HeldOut) checkRun(data [sha256.Size]byte, members []int32) error {
	if data != h.of {
		return &DataError{"held-out samples of other data than the run's"}
	}
	if len(h.rows) == 0 {
		return nil
	}
	if members == nil {
		return &SettingError{"members", "all samples", "none of the held-out ones"}
	}
	for _, row := range h.rows {
		if _, found := slices.BinarySearch(members, row); found {
			return &SettingError{"members", "a held-out sample among them", "none of the held-out ones"}
		}
	}
	return nil
}

// stream returns the stream of a score's noise, from a key that belongs to one model. It depends on everything that the
// score depends on, since the difference of two scores with the same noise has no noise.
func (h *HeldOut) stream(key random.Key, what string, model []byte) *random.Stream {
	sum := sha256.New()
	data := h.data.digest()
	sum.Write(data[:])
	sum.Write(h.of[:])
	for _, v := range []float64{h.settings.Rate, h.settings.NoiseMultiplier} {
		sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	for _, row := range h.rows {
		sum.Write(binary.LittleEndian.AppendUint32(nil, uint32(row)))
	}
	sum.Write(model)
	if h.settings.LogLoss {
		what += " by log loss"
	}
	var id identity
	sum.Sum(id[:0])
	own := random.Key(id.derive(key, "score of "+what+" on held-out samples"))
	return own.Stream(random.ID{Purpose: random.Score})
}

// noisy adds noise of the given standard deviation to sums on the grid.
func (h *HeldOut) noisy(sums []float64, deviation float64, noise *random.Stream) []float64 {
	normals := make([]float64, len(sums))
	noise.Normals(normals)
	coarse := coarseGrid(deviation)
	for i := range sums {
		sums[i] += math.RoundToEven(normals[i]*deviation/scoreGrid) * scoreGrid
		sums[i] = math.RoundToEven(sums[i]/coarse) * coarse
	}
	return sums
}

// coarseGrid returns the grid that noisy sums are rounded to: the largest power of two that is at most 1/64 of the
// noise's standard deviation, or scoreGrid if that is more. The errors of a computed normal, below 2^-53.5 in the mean,
// move a sum across a boundary of a grid g with probability of about 2^-53.5 deviation/g: at most 2^-46.5 for any
// noise. Without this grid the probability would grow with the noise, to more than a usual delta.
func coarseGrid(deviation float64) float64 {
	_, exponent := math.Frexp(deviation) // deviation is in [1/2, 1)·2^exponent
	return math.Max(scoreGrid, math.Ldexp(1, exponent-7))
}

// sum returns the total count of all held-out samples, by a model's outputs for them.
func (h *HeldOut) sum(outputs []float32) float64 {
	total := 0.0
	for i := range h.rows {
		total += h.weigh(i, outputs[i*h.width:(i+1)*h.width])
	}
	return total
}

// noisyScore returns the score of one model's outputs.
func (h *HeldOut) noisyScore(outputs []float32, samples int, noise *random.Stream) float64 {
	sum := h.noisy([]float64{h.sum(outputs)}, h.settings.NoiseMultiplier/2, noise)[0]
	mean := sum / h.nominal(samples)
	switch h.metric {
	case R2:
		return 1 - fullError*(0.5-mean)
	case NegativeLogLoss:
		return -fullLoss * (0.5 - mean)
	}
	return 0.5 + mean
}

func (h *HeldOut) nominal(samples int) float64 { return h.settings.Rate * float64(samples) }

// HeldOutScore has the scores of a released model and of the best constant answer on held-out samples: see
// [HeldOut.Release].
type HeldOutScore struct {
	Score    float64
	Interval [2]float64 // for the score, at 95 % confidence
	Constant float64    // score of the best constant answer: the largest class, the classes' shares, or the number 0
}

// Release returns a model's score for release, from its outputs for the samples of [HeldOut.Inputs]. samples is n, the
// size of the whole set. It costs [HeldOutSettings.Event] once, with fresh noise: key must belong to the run, and
// outputs to a model whose parameters are released.
//
// Score and constant come from one release of a sum of vectors. A sample's vector has 1/2 or -1/2 for the score and
// half the indicator of each class, or in a regression the counts of the sample's error and of its label. One sample
// adds a vector of length at most 1/√2, so each sum has noise of standard deviation NoiseMultiplier/√2. For a
// regression Score is 1 - A/B, for the sums A and B of min(e²/4, 1) for the model and for the answer 0: R² with errors
// clipped at two units. For [NegativeLogLoss] Constant is that of the classes' shares, by these sums.
//
// The interval covers the noise and the draw of the held-out samples, each as a normal with its maximum standard
// deviation. It takes B as exact.
func (h *HeldOut) Release(outputs []float32, samples int, key Key) (HeldOutScore, error) {
	if err := checkOutputs(len(outputs), len(h.rows), h.width); err != nil {
		return HeldOutScore{}, err
	}
	sums := []float64{h.sum(outputs)}
	for _, counts := range h.constant {
		total := 0.0
		for _, v := range counts {
			total += v
		}
		sums = append(sums, total)
	}
	deviation := h.settings.NoiseMultiplier / math.Sqrt2 * (1 + 0x1p-50)
	model := digest(engine.Floats(outputs)...)
	sums = h.noisy(sums, deviation, h.stream(key, "the released model "+hex.EncodeToString(model[:]), nil))
	size := h.nominal(samples)
	const confidence = 1.96
	half := confidence * math.Sqrt(0.25/size+deviation/size*deviation/size)
	if h.metric == R2 {
		lost, constant := within(0.5-sums[0]/size, 0, 1), within(0.5-sums[1]/size, 1/size, 1)
		r2 := func(lost float64) float64 { return 1 - within(lost, 0, 1)/constant }
		return HeldOutScore{Score: r2(lost), Interval: [2]float64{r2(lost + half), r2(lost - half)}}, nil
	}
	if h.metric == NegativeLogLoss {
		loss := func(share float64) float64 { return 0 - fullLoss*within(share, 0, 1) } // not -0
		lost := 0.5 - sums[0]/size
		return HeldOutScore{Score: loss(lost), Interval: [2]float64{loss(lost + half), loss(lost - half)}, Constant: 0 - sharesLoss(sums[1:])}, nil
	}
	score := 0.5 + sums[0]/size
	return HeldOutScore{
		Score:    within(score, 0, 1),
		Interval: [2]float64{within(score-half, 0, 1), within(score+half, 0, 1)},
		Constant: within(2*slices.Max(sums[1:])/size, 0, 1),
	}, nil
}

// sharesLoss returns the clipped log loss of one answer for all samples, the classes' shares of the given sums, which
// can be below 0 by noise.
func sharesLoss(sums []float64) float64 {
	total, loss := 0.0, 0.0
	for _, v := range sums {
		total += max(v, 0)
	}
	for _, v := range sums {
		if v > 0 {
			loss += v / total * min(fullLoss, math.Log(total/v))
		}
	}
	return loss
}

func within(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }
