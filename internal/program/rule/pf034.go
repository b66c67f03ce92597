package rule

func maxThreads() Rule {
	return Rule{
		ID:       "PF034",
		Title:    "SetMaxThreads as a throttle",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `debug.SetMaxThreads holds nothing back: the program dies when it would need one thread
more. Threads grow with blocking system calls and calls of C, and GOMAXPROCS does not
bound them. A number below the default of 10000 turns a busy moment into a crash; one
above it is not reported.`,
		Fix: `Remove the call, and bound what blocks: a semaphore around the calls, or a pool of workers.`,
	}
}
