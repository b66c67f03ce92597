//go:build !linux || portable

package load

import "time"

func takeTimer() (release func()) { return func() {} }

func pause(d time.Duration) { time.Sleep(d) }
