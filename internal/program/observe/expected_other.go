//go:build !linux || portable

package observe

import (
	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/rule"
)

func (*Reader) expectedOf(procstat.Stat, string, string) (e *rule.Expected, wrong string) {
	return nil, ""
}
