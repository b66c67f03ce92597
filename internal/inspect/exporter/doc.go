// Package exporter serves what a scan of all Go processes saw as Prometheus
// metrics.
//
// # Model
//
// Each scrape scans the processes once. Scrapes that come while a scan runs, or
// within a second after it, share its result; a scan that nobody waits for any
// more is stopped. A scan that takes nearly all the time that those who wait have ends
// with what it has: the programs that are known are looked at first, and processes that
// were not are counted as unreadable for want of time. What a scan saw becomes rows, one a process, and the rows
// become metrics: [Families] lists them all, with units in their names. PID and
// name together identify a process on its machine.
//
// # Limits
//
//   - Label sets are bounded: at most MaxProcesses processes, those that have used
//     the most CPU time, and of each its four nearest groups with a limit. Names
//     are clipped and made valid UTF-8.
//   - Counters never fall while a process lives and the exporter runs. Without
//     taskstats the kernel's counters are sums over living threads, which do fall
//     when a thread ends; what was counted between scans is then added up, and
//     what a thread did between the last scan and its end is missing.
//   - A process that begins and ends between two scrapes is not seen.
package exporter
