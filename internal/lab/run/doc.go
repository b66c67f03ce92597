// Package run carries out the lab's experiments, in one results folder: a folder
// for each experiment, in it one for each of its stages, and above them an index that
// holds the documents' numbers against what was measured.
//
// New settles what is to be run and touches nothing. Open makes the folder, or takes
// over what an earlier run left in it. Measure runs every stage as a session (package
// session), with programs that it compiles where Go versions were asked for, and looks
// at those that have a trace. Write brings the folder's index and reports up to what the
// journals hold; Conclude does so for a folder that nothing is measured in. How a report
// looks is not known here: whoever starts a run hands in Pages.
//
// What is wrong with one stage is told of that stage, in lab.json too, and the others
// run. Only the end of the context, a folder of another run, and a journal that cannot
// be written end the whole.
//
// Where a hypothesis stays open, since its interval holds a bound, UntilDecided adds blocks.
// Every look at the answers is another chance to be wrong, so that intervals of stages
// that grew are wider (lab.Rounds).
//
// Where the trials run is a Machine: today this one. The compilers and the programs
// under a trace run on this one in any case, under a supervisor.
package run
