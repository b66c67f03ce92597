// Package maxprocs stands for the real one.
package maxprocs

type Option interface{}

func Set(...Option) (func(), error) { return func() {}, nil }

func Min(int) Option { return nil }

func Logger(func(string, ...any)) Option { return nil }

func RoundQuotaFunc(func(float64) int) Option { return nil }
