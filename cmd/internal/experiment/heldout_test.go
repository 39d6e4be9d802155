package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// A tuning that holds out rows releases one score of them, whose constant and interval the statement has as well. It
// scores no learning curve on them, and cautions of few held-out rows instead of few public ones.
func TestHeldOutRowsAreScoredOnce(t *testing.T) {
	settings := own(t)
	p := resolve(t, true, append(slices.Clone(settings), "privacy.holdout=0.25")...) // of 300 rows, and 60 are public
	all := strings.Join(p.Cautions(), "\n")
	if !strings.Contains(all, "about 75 held-out rows select") || !strings.Contains(all, "a trial has 23 samples") || strings.Contains(all, "60 public test rows") {
		t.Errorf("cautions %s", all)
	}
	o, _ := carryOut(t, p)
	h, score := o.Release.Privacy.Tuning.HeldOut, o.Release.Score
	if h == nil || h.Score == nil || *h.Score != score.Value || score.HeldOut == nil || *h.Interval != *score.HeldOut || *h.Constant != o.Verdict.Constant.Value || *h.Constant == score.Value {
		t.Fatalf("released %+v with score %+v and verdict %+v", h, score, o.Verdict)
	}
	if o.Release.NoPublicRows || score.Metric != train.Accuracy {
		t.Errorf("released %+v", o.Release)
	}
	if (Options{}).keeper(p).Curve != nil {
		t.Error("learning curves are scored")
	}
	// Beside a plan that is scored on the public rows it is the same.
	public := resolve(t, true, settings...)
	if err := public.LoadFrom(p); err != nil {
		t.Fatal(err)
	}
	both, err := RunAll(t.Context(), cpu.New(cpu.Options{}), []Job{{public, Options{Key: public.Key()}, silent{}}, {p, Options{Key: p.Key()}, silent{}}})
	if err != nil || both[0].Release.Score.HeldOut != nil {
		t.Fatalf("%+v, %v", both, err)
	}
	if diff := cmp.Diff(covered(o), covered(both[1])); diff != "" {
		t.Errorf("beside another plan (-alone +beside)\n%s", diff)
	}
	if (Options{}).keeper(public).Curve != public.data.test {
		t.Error("no learning curves are scored on public rows")
	}
	// The same without any public row.
	alone, data := p.Again(nil), *p.data
	data.test = nil
	alone.data = &data
	without, err := alone.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: p.Key()}, silent{})
	if err != nil || !without.Release.NoPublicRows || without.Release.Model.Temperature != 0 || without.Release.Score.Value != score.Value {
		t.Errorf("without public rows %+v, %v; want score %+v", without.Release, err, score)
	}
	if before := p.Statement().Tuning.HeldOut; before.Score != nil {
		t.Errorf("the run's score is in the plan: %+v", before)
	}
}
