// Package kingpin stands for the real one.
package kingpin

type Clause struct{ value string }

func Flag(name, help string) *Clause { return &Clause{} }

func (c *Clause) Envar(name string) *Clause { return c }

func (c *Clause) Default(values ...string) *Clause { return c }

func (c *Clause) Int() *int { return new(int) }

func Parse() {}
