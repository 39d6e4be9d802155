package campaign

import (
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/internal/datasets"
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
	CutOff   int // can go on
	Running  int // a process trains them
	Out      int // handed out to workers by a process that works on the campaign
	Failed   []Job
	Orphans  int // single runs without hyperparameters, because their baseline failed
	Repeated int // failed once, and have begun anew or will

	Done, Left Work // expected; the times are corrected by how long the finished runs took
	// Took is how long the finished runs trained, in seconds, and Expected how long they were expected to.
	Took, Expected float64
}

// Correction returns the factor that corrects a pace's times, by the finished runs.
func (s Status) Correction() float64 {
	if s.Took > 0 && s.Expected > 0 {
		return s.Took / s.Expected
	}
	return 1
}

// Status returns the status of jobs.
func (s *Store) Status(jobs []Job, scan Scan) (Status, error) {
	st := Status{Total: len(jobs)}
	working := s.Working()
	estimates := map[Cell]Work{}
	for _, j := range jobs {
		w, ok := estimates[j.Cell]
		if !ok {
			var err error
			if w, err = s.Estimate(j.Cell, s.Description.Pace); err != nil {
				return st, err
			}
			estimates[j.Cell] = w
		}
		if scan.Repeated[j] {
			st.Repeated++
		}
		sum := &st.Left
		if r, ok := scan.Finished[j]; ok {
			st.Finished++
			st.Took += r.Seconds
			st.Expected += w.Seconds
			sum = &st.Done
		} else if i, ok := scan.CutOff[j]; ok {
			switch {
			case i.Running:
				st.Running++
			case working && isHandedOut(i):
				st.Out++
			default:
				st.CutOff++
			}
		} else if _, ok := scan.Failed[j]; ok {
			if scan.Repeated[j] {
				st.Failed = append(st.Failed, j)
				continue // it isn't left to do
			}
			st.Repeated++
		} else if _, failed := scan.Failed[j.Of(Baseline)]; failed && j.Method == Single && scan.Repeated[j.Of(Baseline)] {
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

// isHandedOut reports whether a run was handed out to workers, and nothing happened to it since.
func isHandedOut(i runs.Info) bool {
	if i.Record == nil || len(i.Record.Moments) == 0 {
		return false
	}
	return i.Record.Moments[len(i.Record.Moments)-1].What == "stopped: "+handedOut // as package runs writes it
}
