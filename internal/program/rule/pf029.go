package rule

func sizedByMachine() Rule {
	return Rule{
		ID:       "PF029",
		Title:    "sized by the machine's CPUs",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `Workers, shards, the capacity of a channel by runtime.NumCPU are as many as the
machine has CPUs, whatever the limit of the container is and whatever GOMAXPROCS is:
in a container of 2 CPUs on a machine of 64 that is 64 workers that take turns on two
threads, with the memory and the contention of 64.`,
		Fix: `Size it by runtime.GOMAXPROCS(0), asked when it is made; where what is sized must stay
as it is, on a disk say, by a number of its own.`,
	}
}
