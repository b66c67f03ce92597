package rule

func throttledTooMany() Rule {
	return Rule{
		ID:       "PF011",
		Title:    "throttled, with more Ps than the limit feeds",
		Severity: Warning,
		Since:    "0.1",
		Measured: true,
		Why: `More Ps than CPUs use up the quota of a period in its first part, and for the rest
of it nothing of the program runs: requests wait for up to 100 ms however little
there is to do. A higher limit would help and costs money; fewer Ps cost nothing and
are the first thing to try.
The share is that of periods in which the quota ran out, of those in which the group
wanted to run. All processes of the group count. Run-queue wait contains the time
spent throttled.`,
		Fix:   `Lower GOMAXPROCS to the limit, rounded up, and measure: procfit sweep --quota LIMIT.`,
		Check: checkThrottledTooMany,
	}
}

func checkThrottledTooMany(s Subject) []Finding {
	t, severity, throttled := s.throttled()
	tooMany := checkTooMany(s)
	if !throttled || len(tooMany) == 0 {
		return nil
	}
	n, _ := s.Procs()
	return []Finding{{
		Severity: severity,
		Message:  s.throttledBy(t) + ", and " + s.runs(n),
		Fix:      tooMany[0].Fix,
	}}
}
