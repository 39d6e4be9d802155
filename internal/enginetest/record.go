package enginetest

import (
	"fmt"
	"runtime"
)

// Reports returns the errors that a check reports. Tests of the suite call it to see whether a check finds a fault.
func Reports(check func(TB)) []string {
	var r record
	ended := make(chan bool)
	go func() {
		defer close(ended)
		check(&r) // a fatal error ends this goroutine
	}()
	<-ended
	return r.errors
}

// record collects the errors that a check reports.
type record struct{ errors []string }

func (r *record) Helper()                      {}
func (r *record) Errorf(f string, args ...any) { r.errors = append(r.errors, fmt.Sprintf(f, args...)) }
func (r *record) Fatalf(f string, args ...any) { r.Errorf(f, args...); runtime.Goexit() }
func (r *record) Fatal(args ...any)            { r.Fatalf("%s", fmt.Sprint(args...)) }
