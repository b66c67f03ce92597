package check

// Injection is what CRI-O makes of a container of Kubernetes with min_injected_gomaxprocs.
type Injection struct {
	Namespace string  // "": the manifest names none
	Request   float64 // CPUs; 0: none
	Procs     int     // the value that it puts into the environment; 0: none
	Kept      Kept    // why it puts none; "": it puts one
	Reads     Reads
	Copies    int  // containers that this one stands for: of a cluster, those that are the same
	Patch     bool // the rest of the container, which decides, is written elsewhere
}

// Kept is why a container keeps the GOMAXPROCS that it has.
type Kept string

// The reasons.
const (
	KeptLimit       Kept = "limit"
	KeptEnvironment Kept = "environment"
	KeptAnnotation  Kept = "annotation"
	KeptPartition   Kept = "partition"
	KeptCode        Kept = "code"   // what it gets has no effect: the running program sets another value itself
	KeptForeign     Kept = "not_go" // what it gets has no effect: nothing in it is Go
)

// KeptReasons are all, in the order in which reports list them.
func KeptReasons() []Kept {
	return []Kept{KeptLimit, KeptEnvironment, KeptAnnotation, KeptPartition, KeptCode, KeptForeign}
}

// Reads is what a program does with its CPU limit if nothing sets GOMAXPROCS.
type Reads string

// What programs do.
const (
	ReadsFollows Reads = "follows" // its runtime follows the limit
	ReadsOnce    Reads = "once"    // automaxprocs in it reads the limit at its start
	ReadsNever   Reads = "never"
	ReadsUnknown Reads = "unknown" // its Go version is not known
)

// Effect is how an injection changes GOMAXPROCS.
type Effect string

// The effects. Without a number now, such as the CPUs of a node that is not known, it is
// known that there is an injection, and not what it changes.
const (
	EffectNone    Effect = "none"
	EffectSame    Effect = "same"
	EffectLower   Effect = "lower"
	EffectHigher  Effect = "higher"
	EffectUnknown Effect = "unknown"
)

// Effects are all, in the order in which reports list them.
func Effects() []Effect {
	return []Effect{EffectLower, EffectHigher, EffectUnknown, EffectSame, EffectNone}
}

// Effect is what an injection changes of the value.
func (v *Value) Effect() Effect {
	switch i := v.Injection; {
	case i == nil || i.Kept != "":
		return EffectNone
	case v.Procs == nil:
		return EffectUnknown
	case i.Procs < *v.Procs:
		return EffectLower
	case i.Procs > *v.Procs:
		return EffectHigher
	}
	return EffectSame
}

// Affects reports whether the program gets another value, as far as is known.
func (e Effect) Affects() bool { return e == EffectLower || e == EffectHigher || e == EffectUnknown }
