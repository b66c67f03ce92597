package sched

// maxTickRate is more goroutines than a P can begin in a millisecond: one takes
// 50 ns at least.
const maxTickRate = 20_000

// mayGoOn tells that the sample's ticks can follow those of the process.
func (t *tally) mayGoOn(s *Sample) bool {
	passed := s.Millis - t.ticksAt
	for i, v := range s.SchedTicks[:min(len(s.SchedTicks), len(t.prev))] {
		if _, ok := grown(t.prev[i], v, passed); !ok {
			return false
		}
	}
	return true
}

// growth is how much all ticks grew to those of the sample.
func (t *tally) growth(s *Sample) (sum int64) {
	for i, v := range s.SchedTicks[:min(len(s.SchedTicks), len(t.prev))] {
		n, _ := grown(t.prev[i], v, s.Millis-t.ticksAt)
		sum += n
	}
	return sum
}

// grown is how much a P's ticks, 32 bits, grew in so many milliseconds; not ok
// where they cannot have come there in that time, 0 where one of them is not known.
func grown(from, to, passed int64) (n int64, ok bool) {
	if from < 0 || to < 0 {
		return 0, true
	}
	n = int64(uint32(to) - uint32(from))
	return n, n < 1<<31 && n <= (passed+sysmonLate)*maxTickRate
}
