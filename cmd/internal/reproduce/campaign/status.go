package campaign

import (
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/datasets"
)

// samples returns the number of a data set's training samples.
func samples(dataset string) (int, error) {
	info, err := datasets.Describe(dataset)
	return info.Train, err
}

// Status counts a campaign's runs.
type Status struct {
	Total    int
	Finished int
	CutOff   int // that can go on
	Running  int // that a process carries out
	Out      int // that other machines carry out, or are to, for a process that works on the campaign
	Failed   []Task
	Orphans  int // single runs whose baseline failed, which have no hyperparameters to train with
	Repeated int // failed once, and were begun anew or will be

	Done, Left Work // expected; the times are corrected by how long the finished runs took
	// Took is the time that the finished runs trained, in seconds, and Expected what had been expected of them.
	Took, Expected float64
}

// Correction is what the times of a pace are to be multiplied by, as the finished runs show.
func (s Status) Correction() float64 {
	if s.Took > 0 && s.Expected > 0 {
		return s.Took / s.Expected
	}
	return 1
}

// Status returns the status of tasks.
func (s *Store) Status(tasks []Task, scan Scan) (Status, error) {
	st := Status{Total: len(tasks)}
	working := s.Working()
	estimates := map[Cell]Work{}
	for _, t := range tasks {
		w, ok := estimates[t.Cell]
		if !ok {
			var err error
			if w, err = s.Estimate(t.Cell, s.Description.Pace); err != nil {
				return st, err
			}
			estimates[t.Cell] = w
		}
		if scan.Repeated[t] {
			st.Repeated++
		}
		sum := &st.Left
		if r, ok := scan.Finished[t]; ok {
			st.Finished++
			st.Took += r.Seconds
			st.Expected += w.Seconds
			sum = &st.Done
		} else if i, ok := scan.CutOff[t]; ok {
			switch {
			case i.Running:
				st.Running++
			case working && isHandedOut(i):
				st.Out++
			default:
				st.CutOff++
			}
		} else if _, ok := scan.Failed[t]; ok {
			if scan.Repeated[t] {
				st.Failed = append(st.Failed, t)
				continue // it isn't left to do
			}
			st.Repeated++
		} else if _, failed := scan.Failed[t.Of(Baseline)]; failed && t.Method == Single && scan.Repeated[t.Of(Baseline)] {
			st.Orphans++
			continue
		}
		sum.Gradients += w.Gradients
		sum.Seconds += w.Seconds
		sum.Models += w.Models
	}
	st.Left.Seconds *= st.Correction()
	st.Done.Seconds *= st.Correction()
	return st, nil
}

// isHandedOut reports whether the last that happened to a run is that other machines were to train it.
func isHandedOut(i runs.Info) bool {
	if i.Record == nil || len(i.Record.Moments) == 0 {
		return false
	}
	return i.Record.Moments[len(i.Record.Moments)-1].What == "stopped: "+handedOut // as package runs writes it
}
