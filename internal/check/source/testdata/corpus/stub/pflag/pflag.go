// Package pflag stands for the real one.
package pflag

type FlagSet struct{}

func NewFlagSet(name string) *FlagSet { return &FlagSet{} }

func (*FlagSet) IntVar(p *int, name string, value int, usage string) { *p = value }

func (*FlagSet) IntVarP(p *int, name, shorthand string, value int, usage string) { *p = value }

func (*FlagSet) Int(name string, value int, usage string) *int { return &value }
