//go:build !unix

package local

import "time"

func ownCPU() time.Duration { return 0 }

func endedCPU() time.Duration { return 0 }
