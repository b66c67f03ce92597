package lab

import "time"

// The document's million does not fit the limits of open files here: the program opens
// what does, and says how many.
func idleStages(o Options) []Stage {
	s := batch(pick(o, 700*time.Millisecond, 3500*time.Millisecond), "idle", pick(o, args("-n 2000 -d 100ms"), nil)...)
	s.Scaled = pick(o, "“a million simultaneous HTTP connections” there, 2000 here", "“a million simultaneous HTTP connections” there, 10,000 here, or as many as the limit of open files allows")
	s.Procs = pick(o, only(1, o.cpus()), only(1, 2, 4, o.cpus()))
	return []Stage{s}
}

func idleHypotheses() []Hypothesis {
	tcp := func(figure Figure, procs int) Quantity { return Quantity{Figure: "Idle/tcp " + figure, Procs: procs} }
	web := func(figure Figure, procs int) Quantity { return Quantity{Figure: "Idle/http " + figure, Procs: procs} }
	const cost = "“The cost of an idle TCP connection in Go is roughly 4–8 KB of memory for the goroutine stack and a slot on the netpoller's wait list — no thread, no P”"
	return []Hypothesis{
		{
			// The threads that opening them took are few, whatever their number.
			ID: "no_thread", Says: "idle keep-alive connections take no thread: less than one for a hundred, with one P",
			Document: cost,
			Measure:  Level(web("threads/conn", 1), 1), AtMost: 0.01,
		},
		{
			ID: "no_p", Says: "beside them as much is computed as without them, within 5 %",
			Document: cost,
			Measure:  Ratio(web("beside-sums/s", AtCPUs), web("alone-sums/s", AtCPUs)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "single_p", Says: "with one P too as much is computed beside them as without them, within 5 %",
			Document: "“You can therefore support hundreds of thousands of connections on a single P, provided your CPU work per packet is small”",
			Measure:  Ratio(web("beside-sums/s", 1), web("alone-sums/s", 1)), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			// Less than 4 KB is nothing to hold against it.
			ID: "kilobytes", Says: "an idle TCP connection costs 8 KB at most",
			Document: cost,
			Measure:  Level(tcp("B/conn", AtCPUs), 1024), AtMost: 8,
		},
		{
			// Which is what the document speaks of in the paragraph before.
			ID: "kilobytes_http", Says: "an idle keep-alive connection of net/http costs 8 KB at most as well",
			Document: cost,
			Measure:  Level(web("B/conn", AtCPUs), 1024), AtMost: 8,
		},
	}
}
