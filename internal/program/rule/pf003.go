package rule

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

func checkIgnoredEnv(s Subject) []Finding {
	if _, counts := s.EnvProcs(); counts || s.Facts.Env.State != facts.Known {
		return nil
	}
	f := Finding{Message: fmt.Sprintf("GOMAXPROCS=%q is not a positive whole number to %s, which ignores it", s.env(), s.RuntimeName())}
	_, err := strconv.ParseInt(s.Facts.Env.Raw, 10, 32)
	if errors.Is(err, strconv.ErrRange) && strings.Trim(s.Facts.Env.Raw, "0123456789") == "" {
		f.Message = fmt.Sprintf("GOMAXPROCS=%s is above %d, the largest number that %s takes, and is ignored", s.env(), math.MaxInt32, s.RuntimeName())
	}
	f.Fix = "remove it, or write a positive whole number"
	switch {
	case !s.sized():
	case s.Automaxprocs != "":
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d", s.Fit.Procs)
	case s.Unset() == s.Fit.Procs:
		f.Fix = fmt.Sprintf("remove it: the runtime chooses %d by itself", s.Unset())
	default:
		f.Fix = fmt.Sprintf("write GOMAXPROCS=%d; %s", s.Fit.Procs, s.withoutEnv())
	}
	if s.Facts.Env.Raw == "" {
		f.Severity = Info
		f.Message = `GOMAXPROCS is set and empty in the environment: to the runtime that is unset, to automaxprocs a reason to do nothing`
		f.Fix = "remove it"
	}
	return []Finding{f}
}
