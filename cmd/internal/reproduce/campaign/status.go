package campaign

import "github.com/dptrain/dptrain/cmd/internal/runs"

// Status counts a campaign's runs.
type Status struct {
	Total    int      `json:"runs"`
	Finished int      `json:"finished"`
	Running  int      `json:"running"`          // a process trains them
	Out      int      `json:"handed_out"`       // to workers, by a process that works on the campaign
	CutOff   int      `json:"cut_off"`          // can go on
	Failed   []string `json:"failed"`           // their names
	Repeated int      `json:"repeated"`         // failed once, and have begun anew or will
	Orphans  int      `json:"without_baseline"` // single runs without hyperparameters, because their baseline failed

	// Expected seconds of training, corrected by how long the finished runs took.
	Done float64 `json:"-"`
	Left float64 `json:"seconds_left"`
	// Took is how long the finished runs trained, in seconds, and Expected how long they were expected to.
	Took     float64 `json:"seconds_trained"`
	Expected float64 `json:"seconds_expected"`
}

// Todo returns the number of runs that are left to do.
func (s Status) Todo() int { return s.Total - s.Finished - len(s.Failed) - s.Orphans }

// Correction returns the factor that corrects a pace's times, by the finished runs.
func (s Status) Correction() float64 {
	if s.Took > 0 && s.Expected > 0 {
		return s.Took / s.Expected
	}
	return 1
}

// Status returns the status of jobs.
func (s *Store) Status(jobs []Job, scan Scan) (Status, error) {
	st := Status{Total: len(jobs), Failed: []string{}}
	working := s.Working()
	estimates := map[Cell]float64{}
	for _, j := range jobs {
		seconds, ok := estimates[j.Cell]
		if !ok {
			w, err := s.Estimate(j.Cell, s.Description.Pace)
			if err != nil {
				return st, err
			}
			seconds = w.Seconds
			estimates[j.Cell] = seconds
		}
		if scan.Repeated[j] {
			st.Repeated++
		}
		sum := &st.Left
		if r, ok := scan.Finished[j]; ok {
			st.Finished++
			if r.Seconds > 0 { // a table need not say
				st.Took += r.Seconds
				st.Expected += seconds
			}
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
				st.Failed = append(st.Failed, j.Name())
				continue // it isn't left to do
			}
			st.Repeated++
		} else if _, failed := scan.Failed[j.Of(Baseline)]; failed && j.Method == Single && scan.Repeated[j.Of(Baseline)] {
			st.Orphans++
			continue
		}
		*sum += seconds
	}
	st.Left *= st.Correction()
	st.Done *= st.Correction()
	return st, nil
}

// isHandedOut reports whether a run was handed out to workers, and nothing happened to it since.
func isHandedOut(i runs.Info) bool {
	return i.Record != nil && len(i.Record.Moments) > 0 &&
		i.Record.Moments[len(i.Record.Moments)-1].What == "stopped: "+handedOut // as package runs writes it
}
