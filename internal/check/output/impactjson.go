package output

import (
	"io"

	"github.com/procfit/procfit/internal/check"
)

const impactSchema = "procfit.crio/v1"

type impactJSON struct {
	Schema     string          `json:"schema"`
	Policy     string          `json:"policy"` // crio, or crio-first: the formula of the first releases
	Floor      int             `json:"floor"`  // min_injected_gomaxprocs
	Files      int             `json:"files"`  // that were checked; of a cluster: pods
	Total      totalsJSON      `json:"total"`
	Namespaces []totalsJSON    `json:"namespaces"`
	Containers []containerJSON `json:"containers"`
	Patches    int             `json:"patches"` // containers that are only a patch; no total counts them
	Errors     []jsonErr       `json:"errors"`
	Notes      []jsonNote      `json:"notes"`
}

type totalsJSON struct {
	Namespace  string         `json:"namespace,omitempty"` // absent of all, and of manifests that name none
	Workloads  affectedJSON   `json:"workloads"`
	Containers affectedJSON   `json:"containers"`
	KnownGo    int            `json:"known_go"`           // affected containers that are known to run Go
	Effects    map[string]int `json:"effects"`            // containers by their effect
	Kept       map[string]int `json:"kept"`               // containers by why they keep their value
	Unread     holeJSON       `json:"limit_not_read"`     // they have a CPU limit, get nothing, and their Go does not read the limit
	Unfollowed holeJSON       `json:"limit_not_followed"` // with the variable their Go does not follow a limit that is set later
}

type affectedJSON struct {
	All      int `json:"all"`
	Affected int `json:"affected"` // their value changes, or is not known now
}

type holeJSON struct {
	Known    int `json:"known"`
	Possible int `json:"possible"` // their Go version is not known
}

type containerJSON struct {
	jsonVal
	Namespace string       `json:"namespace,omitempty"`
	Copies    int          `json:"copies"`       // of a cluster: the number of containers that are the same
	Request   float64      `json:"request_cpus"` // 0: none
	Injected  *int         `json:"injected"`     // null: nothing
	Effect    check.Effect `json:"effect"`       // on procs
	Kept      check.Kept   `json:"kept,omitempty"`
	Reads     check.Reads  `json:"reads_limit"` // what the program does with a CPU limit if nothing sets GOMAXPROCS
}

func writeImpactJSON(w io.Writer, r *check.Report, m check.Impact, _ Options) error {
	d := impactJSON{
		Schema: impactSchema, Policy: string(m.By.Name()), Floor: m.By.Floor, Files: r.Files, Total: totalsOf(m.Total), Patches: m.Patches,
		Namespaces: []totalsJSON{}, Containers: []containerJSON{}, Errors: []jsonErr{}, Notes: []jsonNote{},
	}
	for _, t := range m.Namespaces {
		d.Namespaces = append(d.Namespaces, totalsOf(t))
	}
	for _, v := range m.Values {
		i := v.Injection
		c := containerJSON{valueJSON(*v), i.Namespace, i.Copies, i.Request, nil, v.Effect(), i.Kept, i.Reads}
		if i.Procs > 0 {
			c.Injected = &i.Procs
		}
		d.Containers = append(d.Containers, c)
	}
	for _, p := range r.Problems {
		d.Errors = append(d.Errors, errorJSON(p))
	}
	for _, n := range r.Notes {
		d.Notes = append(d.Notes, jsonNote(n))
	}
	return encode(w, d)
}

func totalsOf(t check.Totals) totalsJSON {
	out := totalsJSON{
		Namespace: t.Namespace, Workloads: affectedJSON(t.Workloads), Containers: affectedJSON(t.Containers), KnownGo: t.KnownGo,
		Effects: map[string]int{}, Kept: map[string]int{}, Unread: holeJSON(t.Unread), Unfollowed: holeJSON(t.Unfollowed),
	}
	for _, e := range check.Effects() {
		out.Effects[string(e)] = t.Effects[e]
	}
	for _, k := range check.KeptReasons() {
		out.Kept[string(k)] = t.Kept[k]
	}
	return out
}
