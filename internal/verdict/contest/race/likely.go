package race

// What a likely value may be wrong by: in one of so many cases by the pooled model.
const (
	mostSlow = 0.03 // by its throughput
	mostLate = 0.10 // by its p99
)

// wrong is the chance, bounded so that what meets the goal is below what does not.
func (s *Race) wrong(n int) float64 {
	w := s.chance[n].wrong()
	if s.rules.Goal == Likely {
		if s.chance[n].likely {
			return min(w, mostLate)
		}
		return max(w, mostLate+1e-6)
	}
	if s.chance[n].proven() {
		return 0
	}
	return max(w, mostLate+1e-6)
}

// giveUp is how a race until likely finds its front. It drops values below the pick that more trials will hardly show to be good,
// the sooner the less there is to gain. Each assessment does it anew.
func (s *Race) giveUp() {
	f := s.model.throughput
	for k, n := range s.named {
		if s.pick != 0 && n >= s.pick {
			break
		}
		above := s.pick
		if above == 0 {
			if k+1 == len(s.named) {
				above = n
			} else {
				above = s.named[k+1]
			}
		}
		limit, fast, prompt := 0.5, 7, 14
		if float64(above-n) > max(1, 0.12*float64(above)) {
			limit, fast, prompt = .9, fast+4, prompt+4
		}
		count, w, c := f.trials(n), s.wrong(n), s.chance[n]
		s.dropped[n] = count >= 3 && w >= limit || count >= 2 && w >= .95 ||
			count >= prompt && !s.ok(n) || count >= fast && c.throughput > mostSlow
	}
	s.front = s.leastWrong()
	for _, n := range s.named {
		if !s.dropped[n] {
			s.front = n
			return
		}
	}
}

// leastWrong is the value that is least probably wrong; 0 when none may be named.
func (s *Race) leastWrong() int {
	best, least := 0, 3.0
	for _, n := range s.named {
		if w := s.wrong(n); w < least-1e-9 {
			best, least = n, w
		}
	}
	return best
}

// ok says whether a value meets the goal of likely.
func (s *Race) ok(n int) bool { return s.chance[n].likely }
