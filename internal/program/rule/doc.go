// Package rule judges which GOMAXPROCS a Go program runs with.
//
// # Model
//
// A [Subject] is what is known of one program: the CPUs and limits it has, what
// its runtime and the policy fit decide from them, and what is seen of it from
// outside. A [Rule] has a page in pages, from which its description comes wherever
// procfit shows it, docs/RULES.md included: an ID that stays, a title, the reason and
// what to do. It may have a pure check, which looks at a Subject and may give a
// [Finding]. [All] lists the rules, [Judge] applies them. Whoever reads processes,
// recorded trees, manifests or binaries fills in Subjects; the rules are the same.
//
// A rule knows no release by heart where a policy does: it asks the policy what
// the runtime would do with a limit (see readLimits), and never repeats the
// answer.
//
// # Limits
//
//   - What is not known gives no finding, but for PF009, which says so. A value
//     that only might be in force, since the environment or the program could
//     not be read, is not judged.
//   - A value between the CPUs rounded down and rounded up is right to these
//     rules. Which one serves a program best is for a sweep to say.
//   - GOMAXPROCS that differs from what the runtime would choose was set by code
//     or comes from limits that changed: from outside the two look alike, and
//     SetBy is then unknown.
package rule
