package lab

import "time"

// make.bash, go list and an incremental go test -c, of the document's Go 1.5 and of
// today's. What the document calls incremental is that one package has changed: there a
// line is added to it before each run. In 2015 GOMAXPROCS did not tell how many processes
// a build has, as it does today, and make.bash leaves that to itself.
func buildStages(o Options) []Stage {
	stage := func(id, title, tree string, takes time.Duration, words ...string) Stage {
		s := command(takes, words...)
		s.ID, s.Title, s.Tree, s.Procs = id, title, tree, pick(o, only(1, 4), only(1, 4, 16))
		return s
	}
	const then, today, ms = "1.5", "1.26", time.Millisecond
	list := stage("list", "go list -json std", "", 400*ms, "go", "list", "-json", "std")
	if o.Quick {
		list.Scaled = "make.bash and go test -c are left out of --quick, and so is Go 1.5"
		return []Stage{list}
	}
	listThen := stage("list_1_5", "go list -json std, Go 1.5", then, 400*ms, GoPlaceholder, "list", "-json", "std")
	const change = `echo // >>"$1/src/html/template/doc.go" && exec "$1/bin/go" test -c -o "$1/template.test" html/template`
	test := func(id, title, tree string, takes time.Duration) Stage {
		return stage(id, "go test -c html/template, of which a source has changed, "+title, tree, takes, "sh", "-c", change, "sh", TreePlaceholder)
	}
	stages := []Stage{listThen, list, test("test_1_5", "Go 1.5", then, 2*time.Second), test("test", "today's Go", today, 1500*ms)}
	if !o.MakeBash {
		return stages
	}
	all := func(id, title, tree, bootstrap string, takes time.Duration) Stage {
		s := stage(id, "make.bash, "+title, tree, takes, "sh", "-c", `cd "$1/src" && exec bash make.bash --no-banner`, "sh", TreePlaceholder)
		s.Bootstrap, s.Procs = bootstrap, only(1, 4)
		return s
	}
	return append(stages, all("make_1_5", "Go 1.5 by Go 1.4", then, "1.4", 70*time.Second), all("make", "today's Go by Go 1.24", today, "1.24", 4*time.Minute))
}

func buildHypotheses() []Hypothesis {
	gain := func(stage string) func(Results) Estimate {
		return Ratio(Quantity{Stage: stage, Figure: Cost, Procs: 1}, Quantity{Stage: stage, Figure: Cost, Procs: 4})
	}
	// Without --make-bash there is no such stage.
	whole := func(stage string) func(Results) Estimate {
		return func(r Results) Estimate {
			if _, ok := r[stage]; !ok {
				return Estimate{Why: "make.bash takes an hour and more: --make-bash runs it"}
			}
			return gain(stage)(r)
		}
	}
	return []Hypothesis{
		{
			// Its two machines gain 6 and 14 %; to be met within 5 % on either side.
			ID: "make_gains_little", Says: "Go 1.5: make.bash is 1.0 to 1.2 times as fast with four Ps as with one: the processes run side by side anyway",
			Document: "39.5 ÷ 34.5 s = 1.14", Value: 39.5 / 34.5, On: OnServer, Needs: 2, Measure: whole("make_1_5"), AtLeast: 1.0, AtMost: 1.2,
		},
		{
			ID: "make_gains_little_today", Says: "today's Go: make.bash gains as little",
			Document: "51.4 ÷ 48.3 s = 1.06", Value: 51.4 / 48.3, On: OnLaptop, Needs: 2, Measure: whole("make"), AtLeast: 1.0, AtMost: 1.2,
		},
		{
			ID: "list_io_bound", Says: "Go 1.5: go list is as fast with four Ps as with one within 5 %: it is primarily I/O-bound",
			Document: "0.21 ÷ 0.21 s = 1", Value: 1, On: OnLaptop, Needs: 2, Measure: gain("list_1_5"), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "list_io_bound_today", Says: "today's Go: it is so still",
			Document: "“The go list command is primarily I/O bound”", Needs: 2, Measure: gain("list"), AtLeast: flatLess, AtMost: flatMore,
		},
		{
			ID: "list_gains", Says: "Go 1.5: go list is at least 1.1 times as fast with four Ps as with one, as on the server (half of its gain)",
			Document: "0.27 ÷ 0.22 s = 1.23", Value: 0.27 / 0.22, On: OnServer, Needs: 4, Measure: gain("list_1_5"), AtLeast: 1.1,
		},
		{
			// "In this case the time taken improves by 15-30%": the bounds, as a ratio.
			ID: "test_gains", Says: "Go 1.5: go test -c takes 15 to 30 % less with four Ps than with one",
			Document: "2.5 ÷ 1.9 s = 1.32", Value: 2.5 / 1.9, On: OnServer, Needs: 2, Measure: gain("test_1_5"), AtLeast: 1 / (1 - 0.15), AtMost: 1 / (1 - 0.30),
		},
		{
			ID: "test_gains_today", Says: "today's Go: it does so too, or takes still less",
			Document: "“In this case the time taken improves by 15-30%”", Needs: 2, Measure: gain("test"), AtLeast: 1 / (1 - 0.15),
		},
	}
}
