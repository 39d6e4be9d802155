//go:build !unix

package campaign

import "time"

func processorTime() time.Duration { return 0 }
