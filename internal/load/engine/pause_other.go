//go:build !linux || portable

package engine

import "time"

func takeTimer() (release func()) { return func() {} }

func pause(d time.Duration) { time.Sleep(d) }
