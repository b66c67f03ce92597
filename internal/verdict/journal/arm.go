package journal

// VariantAgainst marks the arms of a gate's old command.
const VariantAgainst = "against"

// Arm is one setting under test.
type Arm struct {
	Label     string   `json:"label"`
	Procs     *int     `json:"procs"`      // null: GOMAXPROCS not in the environment
	QuotaCPUs *float64 `json:"quota_cpus"` // null: no limit of ours
	Replicas  int      `json:"replicas"`
	GoVersion string   `json:"go_version,omitempty"` // the toolchain of --go; empty: as the program came
	Variant   string   `json:"variant,omitempty"`    // "against" for the old command of a gate
}

// GroupKey is what arms must share to be compared with each other.
type GroupKey struct {
	Limited   bool // there is a quota
	QuotaCPUs float64
	Replicas  int
	GoVersion string
}

// ArmKey tells arms apart. Two arms of one key are one setting, whatever their
// labels say.
type ArmKey struct {
	Group   GroupKey
	Procs   int // 0: unset
	Variant string
}

// Group is the group that the arm belongs to.
func (a Arm) Group() GroupKey {
	g := GroupKey{Replicas: max(1, a.Replicas), GoVersion: a.GoVersion}
	if a.QuotaCPUs != nil {
		g.Limited, g.QuotaCPUs = true, *a.QuotaCPUs
	}
	return g
}

// Key is the arm's identity.
func (a Arm) Key() ArmKey {
	k := ArmKey{Group: a.Group(), Variant: a.Variant}
	if a.Procs != nil {
		k.Procs = *a.Procs
	}
	return k
}
