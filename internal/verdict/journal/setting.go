package journal

// VariantAgainst marks the settings of a gate's old command.
const VariantAgainst = "against"

// Setting is one setting under test.
type Setting struct {
	Label     string   `json:"label"`
	Procs     *int     `json:"procs"`      // null: GOMAXPROCS not in the environment
	QuotaCPUs *float64 `json:"quota_cpus"` // null: no limit of ours
	Replicas  int      `json:"replicas"`
	GoVersion string   `json:"go_version,omitempty"` // the toolchain of --go; empty: as the program came
	Variant   string   `json:"variant,omitempty"`    // "against" for the old command of a gate
}

// GroupKey is what settings must share to be compared with each other.
type GroupKey struct {
	Limited   bool // there is a quota
	QuotaCPUs float64
	Replicas  int
	GoVersion string
}

// SettingKey tells settings apart. Two settings of one key are one setting, whatever
// their labels say.
type SettingKey struct {
	Group   GroupKey
	Procs   int // 0: unset
	Variant string
}

// Group is the group that the setting belongs to.
func (a Setting) Group() GroupKey {
	g := GroupKey{Replicas: max(1, a.Replicas), GoVersion: a.GoVersion}
	if a.QuotaCPUs != nil {
		g.Limited, g.QuotaCPUs = true, *a.QuotaCPUs
	}
	return g
}

// Key is the setting's identity.
func (a Setting) Key() SettingKey {
	k := SettingKey{Group: a.Group(), Variant: a.Variant}
	if a.Procs != nil {
		k.Procs = *a.Procs
	}
	return k
}
