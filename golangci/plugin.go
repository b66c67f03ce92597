// Package golangci lets golangci-lint run procfit's rules for Go source, as a plugin of
// its module system; docs/reference/check.md has the two files that it takes.
//
// It exports nothing and is imported for its effect: golangci-lint finds what a plugin
// has registered. The severity that it reports from is a setting:
//
//	linters:
//	  settings:
//	    custom:
//	      procfit:
//	        type: module
//	        settings: {severity: info}
package golangci

import (
	"fmt"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// name is that of the linter in .golangci.yml.
const name = "procfit"

// init is how golangci-lint's plugins make themselves known.
func init() { register.Plugin(name, newPlugin) }

// settings are those of the linter; the rules that inform are left out unless it is
// asked for them.
type settings struct {
	Severity rule.Severity `json:"severity"`
}

type plugin struct{ least rule.Severity }

func newPlugin(raw any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[settings](raw)
	if err != nil {
		return nil, fmt.Errorf("settings of %s in .golangci.yml: %w", name, err)
	}
	if s.Severity == "" {
		s.Severity = rule.Warning
	}
	if s.Severity.Rank() < 0 {
		return nil, fmt.Errorf("settings of %s in .golangci.yml: severity %q: known are error, warning and info", name, phrase.Clip(string(s.Severity), 40))
	}
	return plugin{s.Severity}, nil
}

// BuildAnalyzers implements register.LinterPlugin.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return source.Analyzers(p.least), nil
}

// GetLoadMode implements register.LinterPlugin.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
